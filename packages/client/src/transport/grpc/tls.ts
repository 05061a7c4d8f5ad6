import { readFile } from "node:fs/promises";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import type { TlsConfig } from "../../config/client-config.ts";

/** What a connection is secured with, as it was when it was read. */
export interface TlsMaterial {
  readonly ca: Buffer | null;
  readonly key: Buffer | null;
  readonly certificate: Buffer | null;
  readonly serverName: string | undefined;
}

/** Reads what stands in files, each time anew: certificates are renewed while a client runs. Rejects if a file cannot be read. */
export async function readTlsMaterial(tls: TlsConfig): Promise<TlsMaterial> {
  const [ca, key, certificate] = await Promise.all([
    contentOf(tls.ca, tls.caPath),
    contentOf(tls.key, tls.keyPath),
    contentOf(tls.certificate, tls.certificatePath),
  ]);
  return { ca, key, certificate, serverName: tls.serverName };
}

/** Throws if what was read is no certificate, or no key of it. */
export function channelCredentials(material: TlsMaterial | undefined): ChannelCredentials {
  if (material === undefined) return credentials.createInsecure();
  return credentials.createSsl(material.ca, material.key, material.certificate);
}

async function contentOf(content: string | Uint8Array | undefined, path: string | undefined): Promise<Buffer | null> {
  if (content !== undefined) return Buffer.from(content);
  return path === undefined ? null : await readFile(path);
}
