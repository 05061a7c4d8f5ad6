import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { type Address, formatAddress } from "../../settings/address.ts";

/** The certificates that a server listens with. */
export interface ServedCertificates {
  /** PEM file of the server's certificate, and of those that signed it. */
  readonly cert: string;
  /** PEM file of the authority that clients' certificates are signed by. */
  readonly ca: string | undefined;
}

/** What a client needs to verify the server. */
export interface Trust {
  /** PEM file of the authority that signed the server's certificate; undefined: none of the server's own files is that. */
  readonly ca: string | undefined;
  /** How the server is reached: by a name in its certificate where there is one for this machine. */
  readonly server: string;
  /** A name in the certificate, where it has none that the server is reached by. */
  readonly serverName: string | undefined;
}

/** Reads what a client needs from the server's own certificates; undefined for those that cannot be read (any more). */
export async function trustOf({ cert, ca }: ServedCertificates, address: Address): Promise<Trust | undefined> {
  try {
    const chain = certificatesIn(await readFile(cert, "utf8"));
    const [leaf] = chain;
    if (leaf === undefined) return undefined;
    const authorities = ca === undefined ? [] : certificatesIn(await readFile(ca, "utf8"));
    return { ca: trusted(leaf, { cert, chain, ca, authorities }), ...reachedBy(leaf, address) };
  } catch {
    return undefined;
  }
}

interface KnownCertificates {
  readonly cert: string;
  readonly chain: readonly X509Certificate[];
  readonly ca: string | undefined;
  readonly authorities: readonly X509Certificate[];
}

function trusted(leaf: X509Certificate, { cert, chain, ca, authorities }: KnownCertificates): Trust["ca"] {
  if (leadsToRoot(leaf, chain)) return cert;
  return ca !== undefined && leadsToRoot(leaf, [...authorities, ...chain]) ? ca : undefined;
}

/** OpenSSL trusts only what ends in a certificate that signed itself. */
function leadsToRoot(leaf: X509Certificate, known: readonly X509Certificate[]): boolean {
  const passed = new Set<X509Certificate>();
  let at: X509Certificate | undefined = leaf;
  while (at !== undefined && !passed.has(at)) {
    const current: X509Certificate = at;
    if (isSignedBy(current, current)) return true;
    passed.add(current);
    at = known.find((one) => one !== current && isSignedBy(current, one));
  }
  return false;
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function reachedBy(leaf: X509Certificate, address: Address): Pick<Trust, "server" | "serverName"> {
  const server = formatAddress(address);
  if (bears(leaf, address.host)) return { server, serverName: undefined };
  const isHere = ["127.0.0.1", "::1"].includes(address.host);
  if (isHere && bears(leaf, "localhost")) return { server: `localhost:${address.port}`, serverName: undefined };
  const [, name] = /(?:^|, )DNS:([^,*"]+)/.exec(leaf.subjectAltName ?? "") ?? [];
  return { server, serverName: name };
}

function bears(leaf: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined;
}

function certificatesIn(text: string): readonly X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
