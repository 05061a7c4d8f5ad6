import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { type Address, formatAddress } from "../../settings/address.ts";

/** Paths of the server's certificates. */
export interface ServedCertificates {
  /** PEM file of the server's certificate and its intermediates. */
  readonly cert: string;
  /** PEM file of the CA of client certificates. */
  readonly ca: string | undefined;
}

/** What a client needs to verify the server. */
export interface Trust {
  /** PEM file of the CA that signed the server's certificate; undefined if none of the server's files holds it. */
  readonly ca: string | undefined;
  /** The server's `host:port`, with a host name of the certificate if there is one for this machine. */
  readonly server: string;
  /** A name in the certificate to verify instead, if the certificate does not cover the host. */
  readonly serverName: string | undefined;
}

/** Derives what a client needs from the server's own certificates; undefined if they cannot be read. */
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

/** Whether the chain ends in a self-signed certificate; OpenSSL trusts nothing else. */
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
