import { readFile, stat } from "node:fs/promises";
import type { TlsConfig } from "../../config/client-config.ts";

/** What a connection is secured with. The same object as long as nothing changed. */
export interface TlsMaterial {
  readonly ca: string | Uint8Array | undefined;
  readonly cert: string | Uint8Array | undefined;
  readonly key: string | Uint8Array | undefined;
  readonly serverName: string | undefined;
}

/** Gives what there is now; rejects with a system error if a file cannot be read. */
export type TlsReader = () => Promise<TlsMaterial>;

/**
 * Reads certificates and keys: files are looked at whenever somebody asks, and read again when one of them is another, so
 * that the next connection is made with what was rotated in.
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

/** Text as UTF-8. */
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
