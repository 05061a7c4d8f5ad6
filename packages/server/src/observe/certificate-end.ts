import { X509Certificate } from "node:crypto";
import type { TypeUrl } from "@xdskit/protocol";

/** The setting that a certificate of the server is from, or `secret`. */
export type CertificateUse = "tls.cert" | "tls.ca" | "admin-tls.cert" | "admin-tls.ca" | "secret";

/** When certificates end. */
export interface CertificateDates {
  /** Whose they are: a common name, or what there is instead. */
  readonly subject: string;
  readonly validFromMs: number;
  readonly validToMs: number;
}

/** When the certificates of a file or a Secret end. */
export interface CertificateEnd extends CertificateDates {
  readonly use: CertificateUse;
  /** Of the server's own: where they are read. */
  readonly file?: string;
  /** Of a Secret. */
  readonly secret?: { readonly layer: string; readonly type: TypeUrl; readonly name: string };
}

/** So many milliseconds before its end, a certificate that somebody renews has been renewed. */
const USUALLY_RENEWED_MS = 14 * 24 * 60 * 60 * 1_000;
/** Of one that lives shortly, this share of its life. */
const USUALLY_RENEWED_SHARE = 1 / 5;

/** Whether a certificate has ended, or ends so soon that its renewal seems to have failed. */
export function isExpiring({ validFromMs, validToMs }: CertificateDates, nowMs: number): boolean {
  const ahead = Math.min(USUALLY_RENEWED_MS, (validToMs - validFromMs) * USUALLY_RENEWED_SHARE);
  return validToMs - nowMs <= ahead;
}

const BLOCK = /-----BEGIN ((?:TRUSTED |X509 )?CERTIFICATE)-----[\s\S]+?-----END \1-----/g;

/** When a chain ends: with the first of its certificates that does. Undefined: the text holds no certificate. */
export function endOfChain(pem: string): CertificateDates | undefined {
  return datesIn(pem).reduce<CertificateDates | undefined>(
    (first, one) => (first === undefined || one.validToMs < first.validToMs ? one : first),
    undefined,
  );
}

/** When CAs end: with the last of them, because a bundle may hold one that was replaced. */
export function endOfCas(pem: string): CertificateDates | undefined {
  return datesIn(pem).reduce<CertificateDates | undefined>(
    (last, one) => (last === undefined || one.validToMs > last.validToMs ? one : last),
    undefined,
  );
}

/** What cannot be read is left out: it is a problem of its own where it is loaded. */
function datesIn(pem: string): readonly CertificateDates[] {
  return (pem.match(BLOCK) ?? []).flatMap((block) => {
    try {
      const { subject, subjectAltName, validFrom, validTo } = new X509Certificate(block);
      const name = /^CN=(.+)$/m.exec(subject)?.[1] ?? subjectAltName ?? subject.replaceAll("\n", ", ");
      return [{ subject: name, validFromMs: Date.parse(validFrom), validToMs: Date.parse(validTo) }];
    } catch {
      return [];
    }
  });
}
