import { X509Certificate } from "node:crypto";
import { type CertificateFault, ClientTrust } from "./transport/grpc/client-trust.ts";
import { splitLists } from "./transport/grpc/revocation-lists.ts";

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * Why a server would not count a client certificate, given in PEM with the intermediate ones behind it; undefined: it
 * would. Without the CAs of the server only its dates are looked at. Throws an `Error` if anything is malformed.
 */
export function certificateFault(
  pem: string,
  { ca, crl, now }: { readonly ca?: string | undefined; readonly crl?: string | undefined; readonly now: Date },
): CertificateFault | undefined {
  const [leaf, ...chain] = (pem.match(BLOCK) ?? [pem]).map((block) => new X509Certificate(block));
  if (leaf === undefined) return undefined;
  if (ca === undefined) return now < new Date(leaf.validFrom) || now >= new Date(leaf.validTo) ? "expired" : undefined;
  return new ClientTrust(ca, crl === undefined ? [] : splitLists(crl)).judge({ leaf, chain }, now);
}
