import { X509Certificate } from "node:crypto";
import { RevocationLists } from "./revocation-lists.ts";

/** Why a verified client certificate is not valid any more. */
export type CertificateFault = "expired" | "untrusted" | "revoked";

/** A client certificate and the certificates that came with it. */
export interface ShownCertificate {
  readonly leaf: X509Certificate;
  readonly chain: readonly X509Certificate[];
}

const PEM_CERTIFICATE =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;
const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/;
/** Longest path to a CA, as in OpenSSL's default. */
const MAX_DEPTH = 100;

/**
 * Judges again certificates that a handshake has verified: OpenSSL verifies in handshakes only, and open connections
 * have none. Looks at signatures, names, dates and revocation; what else a handshake checked, such as purposes, does not
 * change.
 */
export class ClientTrust {
  readonly #authorities: readonly X509Certificate[];
  readonly #lists: RevocationLists;

  /** Throws an `Error` if a certificate or a list is malformed or cut off, as in a file that is being written. */
  constructor(ca: string, revocationLists: readonly string[]) {
    const blocks = ca.match(PEM_CERTIFICATE) ?? [];
    if (blocks.length === 0) throw new Error("the file of CAs has no certificate in PEM");
    if (blocks.length !== ca.split(PEM_BEGIN).length - 1)
      throw new Error("a certificate in the file of CAs has no end");
    this.#authorities = blocks.map((block) => new X509Certificate(block));
    this.#lists = new RevocationLists(revocationLists);
  }

  /** Undefined while the certificate is valid. */
  judge({ leaf, chain }: ShownCertificate, now: Date): CertificateFault | undefined {
    if (isOutOfDate(leaf, now)) return "expired";
    return this.#follow(leaf, { chain, now, passed: new Set() });
  }

  /** Follows every path from a certificate to a CA of the file, until one is valid as a whole. */
  #follow(at: X509Certificate, path: Path): CertificateFault | undefined {
    if (this.#lists.isRevoked(at)) return "revoked";
    if (this.#isAnchor(at)) return undefined;
    const { chain, now, passed } = path;
    if (passed.size >= MAX_DEPTH) return "untrusted";
    passed.add(at.fingerprint256);
    let fault: CertificateFault = "untrusted";
    for (const issuer of [...this.#authorities, ...chain]) {
      if (passed.has(issuer.fingerprint256) || isOutOfDate(issuer, now) || !isIssuedBy(at, issuer)) continue;
      const found = this.#follow(issuer, path);
      if (found === undefined) return undefined;
      if (found === "revoked") fault = found;
    }
    return fault;
  }

  /** OpenSSL trusts no path that ends before a self-signed certificate. */
  #isAnchor(certificate: X509Certificate): boolean {
    const isListed = this.#authorities.some(({ fingerprint256 }) => fingerprint256 === certificate.fingerprint256);
    return isListed && certificate.checkIssued(certificate);
  }
}

interface Path {
  readonly chain: readonly X509Certificate[];
  readonly now: Date;
  /** Fingerprints of the certificates that were followed. */
  readonly passed: Set<string>;
}

function isOutOfDate({ validFrom, validTo }: X509Certificate, now: Date): boolean {
  return now < new Date(validFrom) || now >= new Date(validTo);
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
