import { readFile, stat } from "node:fs/promises";
import type { TlsConfig } from "../../config/client-config.ts";

/** Certificates and keys of a connection. The same object while nothing changes. */
export interface TlsMaterial {
  readonly ca: string | Uint8Array | undefined;
  readonly cert: string | Uint8Array | undefined;
  readonly key: string | Uint8Array | undefined;
  readonly serverName: string | undefined;
}

/** Returns the current material; rejects with a system error if a file cannot be read. */
export type TlsReader = () => Promise<TlsMaterial>;

/**
 * Reads certificates and keys: checks the files on every call and reads them again when one changed, so that the next
 * connection uses rotated ones.
 */
export function createTlsReader(tls: TlsConfig): TlsReader {
  const paths = [tls.caPath, tls.certificatePath, tls.keyPath].filter((path) => path !== undefined);
  let stamp: string | undefined;
  let material: TlsMaterial | undefined;
  return async () => {
    const newStamp = (await Promise.all(paths.map(stampOf))).join();
    if (material === undefined || stamp !== newStamp) {
      material = await readMaterial(tls);
      stamp = newStamp;
    }
    return material;
  };
}

/** Strings become UTF-8. */
export function bufferOf(content: string | Uint8Array): Buffer {
  return Buffer.from(content);
}

async function readMaterial(tls: TlsConfig): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([
    contentOf(tls.ca, tls.caPath),
    contentOf(tls.certificate, tls.certificatePath),
    contentOf(tls.key, tls.keyPath),
  ]);
  return { ca, cert, key, serverName: tls.serverName };
}

async function contentOf(
  content: string | Uint8Array | undefined,
  path: string | undefined,
): Promise<string | Uint8Array | undefined> {
  return content ?? (path === undefined ? undefined : await readFile(path));
}

async function stampOf(path: string): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
