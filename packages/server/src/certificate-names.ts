import { X509Certificate } from "node:crypto";
import { namesByKind } from "./admin/access.ts";

/** The names in a PEM certificate, by kind: `uri:spiffe://prod/sa/edge`, `dns:`, `ip:`, `email:`, `cn:`. */
export function certificateNames(pem: string | Uint8Array): readonly string[] {
  const certificate = new X509Certificate(pem);
  const commonNames = [...certificate.subject.matchAll(/^CN=(.+)$/gm)].map(([, name]) => `cn:${name}`);
  return [...namesByKind(certificate.subjectAltName ?? ""), ...commonNames];
}
