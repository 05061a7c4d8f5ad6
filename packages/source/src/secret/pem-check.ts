import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { BaseProblem } from "@xdskit/protocol/internal";
import type { SecretSource } from "./secret-sources.ts";

/** What is wrong with a file of a Secret, without a word of its content. Fields are proto names between backticks. */
export interface PemProblem extends Omit<BaseProblem, "severity"> {
  readonly code: "SECRET_PEM_INVALID" | "SECRET_KEY_MISMATCH";
  readonly source: SecretSource;
}

/** A file of a Secret. */
export interface SecretContent {
  readonly source: SecretSource;
  readonly bytes: Uint8Array;
}

const CERTIFICATE = /-----BEGIN ((?:TRUSTED |X509 )?CERTIFICATE)-----[\s\S]+?-----END \1-----/g;
const REVOCATION_LIST = /-----BEGIN X509 CRL-----/;

/** Checks the files of one Secret: that each is what its field wants, and that certificate and key belong together. */
export function checkContents(contents: readonly SecretContent[]): readonly PemProblem[] {
  const problems: PemProblem[] = [];
  const report = (problem: PemProblem): void => void problems.push(problem);
  const password = contents.find(({ source }) => source.field === "password");
  let certificate: X509Certificate | undefined;
  let key: { readonly content: SecretContent; readonly key: KeyObject } | undefined;
  for (const content of contents) {
    switch (content.source.field) {
      case "certificate_chain":
        certificate = readCertificates(content, report);
        break;
      case "trusted_ca":
        readCertificates(content, report);
        break;
      case "private_key":
        key = readKey(content, password, report);
        break;
      case "crl":
        checkRevocationList(content, report);
    }
  }
  if (certificate !== undefined && key !== undefined && !certificate.checkPrivateKey(key.key)) {
    const message = "expected the private key of the certificate in `certificate_chain`, got another key";
    const hint = "while both are being replaced, this is over when the second one is written";
    report({ code: "SECRET_KEY_MISMATCH", source: key.content.source, message, hint });
  }
  return problems;
}

type Report = (problem: PemProblem) => void;

/** Returns the first of the certificates if all are valid. */
function readCertificates({ source, bytes }: SecretContent, report: Report): X509Certificate | undefined {
  const blocks = textOf(bytes).match(CERTIFICATE) ?? [];
  const message = `expected certificates in PEM for \`${source.field}\``;
  if (blocks.length === 0) {
    report({ code: "SECRET_PEM_INVALID", source, message: `${message}, got none` });
    return undefined;
  }
  let first: X509Certificate | undefined;
  for (const [index, block] of blocks.entries()) {
    try {
      const certificate = new X509Certificate(block);
      first ??= certificate;
    } catch {
      const got = `got something else in number ${index + 1} of ${blocks.length}`;
      report({ code: "SECRET_PEM_INVALID", source, message: `${message}, ${got}` });
      return undefined;
    }
  }
  return first;
}

function readKey(
  content: SecretContent,
  password: SecretContent | undefined,
  report: Report,
): { content: SecretContent; key: KeyObject } | undefined {
  const key = textOf(content.bytes);
  // A password that is not in a file cannot be known here.
  if (key.includes("ENCRYPTED") && password === undefined) return undefined;
  try {
    const passphrase = password === undefined ? {} : { passphrase: Buffer.from(password.bytes) };
    return { content, key: createPrivateKey({ key, format: "pem", ...passphrase }) };
  } catch {
    const isLocked = key.includes("ENCRYPTED");
    const message = `expected a private key in PEM${isLocked ? " that the password opens" : ""}, got something else`;
    report({ code: "SECRET_PEM_INVALID", source: content.source, message });
    return undefined;
  }
}

function checkRevocationList({ source, bytes }: SecretContent, report: Report): void {
  if (REVOCATION_LIST.test(textOf(bytes))) return;
  report({ code: "SECRET_PEM_INVALID", source, message: "expected a revocation list in PEM for crl, got none" });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
