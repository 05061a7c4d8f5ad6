import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/** Files with which a connection to etcd is encrypted; they are read again when etcd does not answer. */
export interface EtcdTlsOptions {
  /** The certificates that etcd's own is verified with, in PEM. @default those that Node trusts */
  readonly caFile?: string;
  /** The client certificate, in PEM; it needs `keyFile`. @default none */
  readonly certFile?: string;
  /** The key of the client certificate, in PEM. @default none */
  readonly keyFile?: string;
}

/** The contents of files in PEM. */
export interface EtcdTls {
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
}

const CERTIFICATE =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/**
 * Reads the files; `former` itself if they are as they were. Throws a TypeError that names the file and what is wrong, if
 * one cannot be read or they do not fit together.
 */
export function readTlsFiles({ caFile, certFile, keyFile }: EtcdTlsOptions, former?: EtcdTls): EtcdTls {
  if ((certFile === undefined) !== (keyFile === undefined)) throw new TypeError("cert and key go together");
  const ca = readFile("ca", caFile);
  const cert = readFile("cert", certFile);
  const key = readFile("key", keyFile);
  const isSameCa = isSame(ca, former?.ca);
  const isSamePair = isSame(cert, former?.cert) && isSame(key, former?.key);
  if (former !== undefined && isSameCa && isSamePair) return former;
  // A bundle of CAs takes long to check.
  if (ca !== undefined && !isSameCa) readCertificates(ca, `ca: ${caFile}`);
  if (cert === undefined || key === undefined || isSamePair) return { ca, cert, key };
  const [own] = readCertificates(cert, `cert: ${certFile}`);
  if (own?.checkPrivateKey(readKey(key, `key: ${keyFile}`)) !== true)
    throw new TypeError(`key: ${keyFile} does not belong to the certificate ${certFile}`);
  return { ca, cert, key };
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

function readFile(parameter: string, file: string | undefined): Buffer | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file);
  } catch (cause) {
    // Without the call and the path at its end.
    const reason = String(cause instanceof Error ? cause.message : cause).replace(/, \w+( '.*')?$/s, "");
    throw new TypeError(`${parameter}: ${file} cannot be read: ${reason}`, { cause });
  }
}

function readCertificates(content: Buffer, where: string): readonly X509Certificate[] {
  const blocks = content.toString("latin1").match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new TypeError(`${where} has no certificate in PEM`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw new TypeError(`${where} has a damaged certificate`, { cause });
  }
}

function readKey(content: Buffer, where: string): KeyObject {
  try {
    return createPrivateKey(content);
  } catch (cause) {
    const isEncrypted = content.includes("ENCRYPTED");
    throw new TypeError(`${where} ${isEncrypted ? "needs a passphrase" : "has no private key in PEM"}`, { cause });
  }
}
