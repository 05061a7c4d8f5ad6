import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createSecureContext, createServer, type Server, type TLSSocket } from "node:tls";
import { XdsError } from "../../error.ts";
import type { TlsFiles } from "../../options.ts";

/** Files are often replaced one by one: they are read when nothing has changed for so long. */
const QUIET_MS = 100;
/** Where the system does not tell of changes (some network file systems), they are found by looking. */
const POLL_MS = 30_000;

/** What was read from the files. */
interface Credentials {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
}

/** What becomes of changed files. */
export interface TlsReloads {
  onReloaded(files: readonly string[]): void;
  /** What was in force stays. */
  onRefused(files: readonly string[], error: Error): void;
}

/** A TLS server whose certificates are read anew whenever their files change. */
export class TlsListener {
  readonly server: Server;
  readonly #files: TlsFiles;
  readonly #reloads: TlsReloads;
  readonly #watchers: FSWatcher[] = [];
  #inForce: Credentials;
  #refused: Credentials | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;

  /** Throws an `XdsError` (TLS_INVALID) when the files cannot be read or do not fit. */
  static async open(
    files: TlsFiles,
    backlog: { readonly onSocket: (socket: TLSSocket) => void; readonly handshakeTimeoutMs: number },
    reloads: TlsReloads,
  ): Promise<TlsListener> {
    const credentials = await readCredentials(files).catch((cause: unknown) => {
      throw new XdsError("TLS_INVALID", `the TLS files cannot be used: ${messageOf(cause)}`, { cause });
    });
    const server = createServer({
      ...withoutAbsent(credentials),
      ALPNProtocols: ["h2", "http/1.1"],
      minVersion: "TLSv1.2",
      handshakeTimeout: backlog.handshakeTimeoutMs,
      noDelay: true,
      requestCert: files.ca !== undefined,
      rejectUnauthorized: files.ca !== undefined && files.requireClientCertificate !== false,
    });
    server.on("secureConnection", backlog.onSocket);
    return new TlsListener(server, files, credentials, reloads);
  }

  private constructor(server: Server, files: TlsFiles, credentials: Credentials, reloads: TlsReloads) {
    this.server = server;
    this.#files = files;
    this.#inForce = credentials;
    this.#reloads = reloads;
    // Directories, not files: what is mounted into containers is replaced by renaming a link beside it.
    const directories = new Set(pathsOf(files).map((path) => dirname(path)));
    for (const directory of directories) {
      const watcher = watch(directory, { persistent: false }, () => this.#changed());
      watcher.on("error", () => undefined); // the directory went away: from now on files are looked at
      this.#watchers.push(watcher);
    }
    this.#poll = setInterval(() => void this.reload(), POLL_MS);
    this.#poll.unref();
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
    clearInterval(this.#poll);
    clearTimeout(this.#quiet);
    this.#poll = undefined;
  }

  #changed(): void {
    clearTimeout(this.#quiet);
    if (this.#poll === undefined) return;
    this.#quiet = setTimeout(() => void this.reload(), QUIET_MS);
    this.#quiet.unref();
  }

  /** Never rejects: what is wrong with the files is reported, and what was in force stays. */
  async reload(): Promise<void> {
    const files = pathsOf(this.#files);
    try {
      const credentials = await readFiles(this.#files);
      if (areEqual(credentials, this.#inForce)) return;
      if (this.#refused !== undefined && areEqual(credentials, this.#refused)) return;
      this.#refused = credentials;
      createSecureContext(withoutAbsent(credentials)); // throws when they do not fit
      this.server.setSecureContext(withoutAbsent(credentials));
      this.#inForce = credentials;
      this.#refused = undefined;
      this.#reloads.onReloaded(files);
    } catch (error) {
      this.#reloads.onRefused(files, error instanceof Error ? error : new Error(String(error)));
    }
  }
}

function pathsOf({ cert, key, ca }: TlsFiles): readonly string[] {
  return ca === undefined ? [cert, key] : [cert, key, ca];
}

async function readCredentials(files: TlsFiles): Promise<Credentials> {
  const credentials = await readFiles(files);
  createSecureContext(withoutAbsent(credentials));
  return credentials;
}

async function readFiles({ cert, key, ca }: TlsFiles): Promise<Credentials> {
  const [certBytes, keyBytes, caBytes] = await Promise.all([
    readFile(cert),
    readFile(key),
    ca === undefined ? undefined : readFile(ca),
  ]);
  return { cert: certBytes, key: keyBytes, ca: caBytes };
}

function withoutAbsent({ cert, key, ca }: Credentials): { cert: Buffer; key: Buffer; ca?: Buffer } {
  return ca === undefined ? { cert, key } : { cert, key, ca };
}

function areEqual(a: Credentials, b: Credentials): boolean {
  const isSameAuthority = a.ca === undefined || b.ca === undefined ? a.ca === b.ca : a.ca.equals(b.ca);
  return a.cert.equals(b.cert) && a.key.equals(b.key) && isSameAuthority;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
