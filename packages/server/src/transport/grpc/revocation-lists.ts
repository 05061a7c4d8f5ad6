import { type DerElement, derTag, readDer } from "./der.ts";

/** A certificate, as revocation lists name it. */
export interface RawCertificate {
  /** The certificate in DER. */
  readonly raw: Buffer;
}

const PEM_LIST = /-----BEGIN X509 CRL-----[^-]*-----END X509 CRL-----/g;

/** The PEM blocks of a file of revocation lists; OpenSSL takes one at a time. Throws an `Error` if there is none. */
export function splitLists(pem: string): readonly string[] {
  const blocks = pem.match(PEM_LIST);
  if (blocks === null) throw new Error("the file of revocation lists (crl) has no X509 CRL in PEM");
  if (blocks.length !== pem.split("-----BEGIN X509 CRL-----").length - 1)
    throw new Error("a list in the file of revocation lists (crl) has no end");
  return blocks;
}

/**
 * Which certificates the lists of a file revoke. The handshake checks signatures and dates of the lists; here only what
 * they name counts.
 */
export class RevocationLists {
  readonly #revoked = new Set<string>();

  /** Throws an `Error` if a list is malformed. */
  constructor(blocks: readonly string[]) {
    for (const block of blocks) for (const key of readList(block)) this.#revoked.add(key);
  }

  isRevoked({ raw }: RawCertificate): boolean {
    return this.#revoked.size > 0 && this.#revoked.has(keyOf(raw));
  }
}

/** Issuer and serial number of a certificate: `Certificate { tbsCertificate { [version], serial, algorithm, issuer } }`. */
function keyOf(raw: Buffer): string {
  const fields = contentOf(contentOf(readDer(raw)));
  const [serial, , issuer] = fields[0]?.tag === derTag.version ? fields.slice(1) : fields;
  return entryKey(issuer, serial);
}

/** `CertificateList { tbsCertList { [version], algorithm, issuer, thisUpdate, [nextUpdate], [revoked] } }`. */
function* readList(block: string): Iterable<string> {
  const der = Buffer.from(block.replace(/-----[^-]*-----/g, ""), "base64");
  const fields = contentOf(contentOf(readDer(der)));
  const [, issuer, ...rest] = fields[0]?.tag === derTag.integer ? fields.slice(1) : fields;
  const isTime = ({ tag }: DerElement): boolean => tag === derTag.utcTime || tag === derTag.generalizedTime;
  const [revoked] = rest.filter((field) => !isTime(field));
  if (revoked?.tag !== derTag.sequence) return; // nothing is revoked; extensions may follow
  for (const entry of readDer(revoked.content)) yield entryKey(issuer, readDer(entry.content)[0]);
}

function contentOf(elements: readonly DerElement[]): readonly DerElement[] {
  const [first] = elements;
  if (first?.tag !== derTag.sequence) throw new Error("expected a sequence in DER");
  return readDer(first.content);
}

function entryKey(issuer: DerElement | undefined, serial: DerElement | undefined): string {
  if (issuer?.tag !== derTag.sequence || serial?.tag !== derTag.integer)
    throw new Error("expected an issuer and a serial number in DER");
  return `${issuer.whole.toString("base64")} ${serial.content.toString("hex")}`;
}
