import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createSecureContext, createServer, type Server, type TLSSocket } from "node:tls";
import { XdsError } from "../../error.ts";
import type { TlsFiles } from "../../options.ts";

/** Milliseconds without changes before the files are read: they are often replaced one by one. */
const QUIET_MS = 100;
/** Polling interval in milliseconds, for file systems without change events (some network file systems). */
const POLL_MS = 30_000;

/** The contents of the files. */
interface Credentials {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
}

/** Callbacks for reloaded files. */
export interface TlsReloads {
  onReloaded(files: readonly string[]): void;
  /** The new files are invalid; the previous certificates stay in use. */
  onRefused(files: readonly string[], error: Error): void;
}

/** A TLS server that reloads its certificates when their files change. */
export class TlsListener {
  readonly server: Server;
  readonly #files: TlsFiles;
  readonly #reloads: TlsReloads;
  readonly #watchers: FSWatcher[] = [];
  #inForce: Credentials;
  #refused: Credentials | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;

  /** Reads the files. Throws an `XdsError` (TLS_INVALID) if they are unreadable or do not match. */
  static async open(
    files: TlsFiles,
    backlog: {
      readonly onSocket: (socket: TLSSocket) => void;
      readonly handshakeTimeoutMs: number;
      /** What clients may choose from by ALPN. */
      readonly protocols: readonly string[];
    },
    reloads: TlsReloads,
  ): Promise<TlsListener> {
    const credentials = await readCredentials(files).catch((cause: unknown) => {
      throw new XdsError("TLS_INVALID", `the TLS files cannot be used: ${messageOf(cause)}`, { cause });
    });
    const server = createServer({
      ...withoutAbsent(credentials),
      ALPNProtocols: [...backlog.protocols],
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
    // Watches directories: containers' mounted files are replaced by renaming a link beside them.
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

  /** Reloads the files. Never rejects: problems are reported, and the previous certificates stay in use. */
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
