import { constants, createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import {
  createSecureContext,
  createServer,
  type SecureContextOptions,
  type Server,
  type TLSSocket,
  type TlsOptions,
} from "node:tls";
import { XdsError } from "../../error.ts";
import type { TlsFiles } from "../../options.ts";
import { type CertificateFaults, type CertificateNotice, CertificateWatch } from "./certificate-watch.ts";
import { ClientTrust } from "./client-trust.ts";
import { splitLists } from "./revocation-lists.ts";

/** Milliseconds without changes before the files are read: they are often replaced one by one. */
const QUIET_MS = 100;
/** Polling interval in milliseconds, for file systems without change events (some network file systems). */
const POLL_MS = 30_000;

/** Calls back when something in a directory changes, as `watch` of `node:fs` does. Throws if it cannot be watched. */
type WatchDirectory = (directory: string, onChange: () => void) => Pick<FSWatcher, "close" | "on">;

const watchDirectory: WatchDirectory = (directory, onChange) => watch(directory, { persistent: false }, onChange);

/** The contents of the files. */
interface Credentials {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
  readonly crl: Buffer | undefined;
}

/** A file with certificates in PEM. */
export interface CertificateFile {
  readonly file: string;
  readonly pem: string;
}

/** The certificates that a TLS server uses now, which may not be those of the files. */
export interface InForceCertificates {
  readonly cert: CertificateFile;
  readonly ca?: CertificateFile;
}

/** What a TLS server does with its connections. */
export interface TlsPorts {
  readonly onSocket?: (socket: TLSSocket) => void;
  /** Makes the server, which is an ordinary one of `node:tls` otherwise. */
  readonly createServer?: (options: TlsOptions) => Server;
  /** The client's certificate expires soon, or is not valid any more: the connection is to be closed. */
  readonly onNotice: (socket: TLSSocket, notice: CertificateNotice) => void;
  /** The connection of a failed handshake is about to be closed. */
  readonly onHandshakeFailed?: (socket: TLSSocket, error: Error) => void;
  readonly handshakeTimeoutMs: number;
  /** What clients may choose from by ALPN. */
  readonly protocols: readonly string[];
  /** Holds CAs and revocation lists that would end too many connections; undefined: nothing does. */
  readonly fuse?: TrustFuse | undefined;
}

/** CAs and revocation lists that a fuse holds: those of before stay in force. */
export interface HeldTrust {
  /** Computed from their content: an approval names what was seen. */
  readonly id: string;
  readonly files: readonly string[];
  /** Whom they would cut off. */
  readonly message: string;
  readonly since: Date;
}

/** Judges CAs and revocation lists before they are in force. */
export interface TrustFuse {
  add(listener: TlsListener): void;
  remove(listener: TlsListener): void;
  /** Why they must be held; undefined: they may be in force. `faults`: what they would find at the listener. */
  trip(listener: TlsListener, trust: ClientTrust, faults: CertificateFaults): Promise<string | undefined>;
}

/** Callbacks for reloaded files. */
export interface TlsReloads {
  onReloaded(files: readonly string[]): void;
  /** The new files are invalid; the previous certificates stay in use. */
  onRefused(files: readonly string[], error: Error): void;
  /** New CAs or revocation lists would end too many connections. */
  onHeld?(held: HeldTrust): void;
}

/**
 * A TLS server that reloads its certificates when their files change, and judges the certificates of connected clients
 * again when CAs or revocation lists did.
 */
export class TlsListener {
  readonly server: Server;
  readonly #files: TlsFiles;
  readonly #reloads: TlsReloads;
  readonly #fuse: TrustFuse | undefined;
  readonly #watchers: Pick<FSWatcher, "close">[] = [];
  readonly #clients: CertificateWatch;
  /** What judges clients, once it is another than that of the first handshakes. */
  #trust: ClientTrust | undefined;
  #inForce: Credentials;
  #refused: Credentials | undefined;
  #held: Held | undefined;
  #reloading: Promise<void> = Promise.resolve();
  #quiet: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;

  /** Reads the files. Throws an `XdsError` (TLS_INVALID) if they are unreadable or do not match. */
  static async open(
    files: TlsFiles,
    ports: TlsPorts,
    reloads: TlsReloads,
    watchIn: WatchDirectory = watchDirectory,
  ): Promise<TlsListener> {
    const credentials = await readCredentials(files).catch((cause: unknown) => {
      throw new XdsError("TLS_INVALID", `the TLS files cannot be used: ${messageOf(cause)}`, { cause });
    });
    const server = (ports.createServer ?? createServer)({
      ...contextOf(credentials),
      ALPNProtocols: [...ports.protocols],
      handshakeTimeout: ports.handshakeTimeoutMs,
      noDelay: true,
      requestCert: files.ca !== undefined,
      rejectUnauthorized: files.ca !== undefined && files.requireClientCertificate !== false,
    });
    return new TlsListener(server, { files, credentials, ports, reloads, watchIn });
  }

  private constructor(server: Server, { files, credentials, ports, reloads, watchIn }: Opened) {
    this.server = server;
    this.#files = files;
    this.#inForce = credentials;
    this.#reloads = reloads;
    this.#clients = new CertificateWatch(ports.onNotice);
    this.#fuse = ports.fuse;
    this.#fuse?.add(this);
    server.on("tlsClientError", (error, socket) => {
      ports.onHandshakeFailed?.(socket, error);
      socket.destroy(); // a handshake that takes too long leaves it open
    });
    server.on("secureConnection", (socket) => {
      ports.onSocket?.(socket);
      // With the trust of now: the handshake may have begun before a reload.
      this.#clients.add(socket, this.#trust);
    });
    // Watches directories: containers' mounted files are replaced by renaming a link beside them.
    const directories = new Set(pathsOf(files).map((path) => dirname(path)));
    for (const directory of directories) this.#watch(directory, watchIn);
    this.#poll = setInterval(() => void this.reload(), POLL_MS);
    this.#poll.unref();
  }

  /** Where a directory cannot be watched, or goes away, its files are looked at from time to time. */
  #watch(directory: string, watchIn: WatchDirectory): void {
    try {
      const watcher = watchIn(directory, () => this.#changed());
      watcher.on("error", () => undefined);
      this.#watchers.push(watcher);
    } catch {
      // No watches are left, or the directory must not be listed.
    }
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
    clearInterval(this.#poll);
    clearTimeout(this.#quiet);
    this.#poll = undefined;
    this.#clients.close();
    this.#fuse?.remove(this);
  }

  get inForce(): InForceCertificates {
    const { cert, ca } = this.#files;
    const read = (file: string, bytes: Buffer): CertificateFile => ({ file, pem: bytes.toString("latin1") });
    return {
      cert: read(cert, this.#inForce.cert),
      ...(ca !== undefined && this.#inForce.ca !== undefined && { ca: read(ca, this.#inForce.ca) }),
    };
  }

  /** Undefined: everything that could be read is in force. */
  get held(): HeldTrust | undefined {
    return this.#held?.shown;
  }

  /** Whether another listener reads the same CAs and revocation lists. */
  sharesTrustWith(other: TlsListener): boolean {
    return this.#files.ca === other.#files.ca && this.#files.crl === other.#files.crl;
  }

  /** What is wrong with the certificates of the open connections by such a trust. */
  faults(trust: ClientTrust): Promise<CertificateFaults> {
    return this.#clients.faults(trust);
  }

  /** Puts in force what is held under an id. Returns whether it was held. */
  async approve(id: string): Promise<boolean> {
    const approved = this.#reloading.then(async () => {
      const held = this.#held;
      if (held === undefined || held.shown.id !== id) return false;
      const { credentials, trust } = held;
      const faults = await this.#clients.faults(trust);
      this.#use(credentials);
      await this.#enforce(trust, faults);
      return true;
    });
    this.#reloading = approved.then(nothing, nothing);
    return await approved;
  }

  #changed(): void {
    clearTimeout(this.#quiet);
    if (this.#poll === undefined) return;
    this.#quiet = setTimeout(() => void this.reload(), QUIET_MS);
    this.#quiet.unref();
  }

  /** Reloads the files. Never rejects: problems are reported, and the previous certificates stay in use. */
  reload(): Promise<void> {
    // One after another, so that an older reading never comes after a newer one.
    this.#reloading = this.#reloading.then(() => this.#reload());
    return this.#reloading;
  }

  async #reload(): Promise<void> {
    const files = pathsOf(this.#files);
    try {
      const credentials = await readFiles(this.#files);
      if (areEqual(credentials, this.#held?.credentials ?? this.#inForce)) return;
      if (this.#refused !== undefined && areEqual(credentials, this.#refused)) return;
      this.#refused = credentials;
      const trust = check(credentials, this.#files);
      if (trust === undefined || isSameTrust(credentials, this.#inForce)) this.#use(credentials);
      else await this.#judge(credentials, trust);
    } catch (error) {
      this.#reloads.onRefused(files, error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Puts other CAs or revocation lists in force, unless the fuse holds them. */
  async #judge(credentials: Credentials, trust: ClientTrust): Promise<void> {
    const held = this.#held;
    if (held !== undefined && isSameTrust(credentials, held.credentials)) {
      // It goes on waiting, also if fewer would be cut off now.
      this.#hold({ ...held, credentials });
      return;
    }
    const faults = await this.#clients.faults(trust);
    const message = await this.#fuse?.trip(this, trust, faults);
    if (message === undefined) {
      this.#use(credentials);
      await this.#enforce(trust, faults);
      return;
    }
    const shown = { id: idOf(credentials), files: trustPathsOf(this.#files), message, since: new Date() };
    this.#hold({ credentials, trust, shown });
    this.#reloads.onHeld?.(shown);
  }

  /** The server's own certificate never waits: it is in force with the CAs and lists of before. */
  #hold(held: Held): void {
    const { cert, key } = held.credentials;
    const { ca, crl } = this.#inForce;
    const kept = { cert, key, ca, crl };
    if (areEqual(kept, this.#inForce)) this.#refused = undefined;
    else this.#use(kept);
    this.#held = held;
  }

  #use(credentials: Credentials): void {
    this.server.setSecureContext(contextOf(credentials));
    this.#inForce = credentials;
    this.#refused = undefined;
    this.#held = undefined;
    this.#reloads.onReloaded(pathsOf(this.#files));
  }

  async #enforce(trust: ClientTrust, faults: CertificateFaults): Promise<void> {
    this.#trust = trust;
    await this.#clients.enforce(trust, faults);
  }
}

/** What waits for an approval. */
interface Held {
  readonly credentials: Credentials;
  readonly trust: ClientTrust;
  readonly shown: HeldTrust;
}

interface Opened {
  readonly files: TlsFiles;
  readonly credentials: Credentials;
  readonly ports: TlsPorts;
  readonly reloads: TlsReloads;
  readonly watchIn: WatchDirectory;
}

function pathsOf({ cert, key, ca, crl }: TlsFiles): readonly string[] {
  return [cert, key, ca, crl].filter((path) => path !== undefined);
}

const nothing = (): void => undefined;

function trustPathsOf({ ca, crl }: TlsFiles): readonly string[] {
  return [ca, crl].filter((path) => path !== undefined);
}

/** How many digits tell held content from other content. */
const ID_DIGITS = 8;

function idOf({ ca, crl }: Credentials): string {
  const hash = createHash("sha256");
  for (const part of [ca, crl]) hash.update(`${part?.length ?? ""}\n`).update(part ?? "");
  return `ca-${hash.digest("hex").slice(0, ID_DIGITS)}`;
}

async function readCredentials(files: TlsFiles): Promise<Credentials> {
  const credentials = await readFiles(files);
  check(credentials, files);
  return credentials;
}

/** The certificates that a listener elsewhere reloads from the same files; undefined if they cannot be read now. */
export async function readCertificates({ cert, ca }: TlsFiles): Promise<InForceCertificates | undefined> {
  const read = async (file: string): Promise<CertificateFile> => ({ file, pem: await readFile(file, "latin1") });
  try {
    return { cert: await read(cert), ...(ca !== undefined && { ca: await read(ca) }) };
  } catch {
    return undefined;
  }
}

async function readFiles({ cert, key, ca, crl }: TlsFiles): Promise<Credentials> {
  const [certBytes, keyBytes, caBytes, crlBytes] = await Promise.all([
    readFile(cert),
    readFile(key),
    ca === undefined ? undefined : readFile(ca),
    crl === undefined ? undefined : readFile(crl),
  ]);
  return { cert: certBytes, key: keyBytes, ca: caBytes, crl: crlBytes };
}

/** Throws when files do not fit together; returns what judges clients if certificates are verified. */
function check(credentials: Credentials, files: TlsFiles): ClientTrust | undefined {
  try {
    createSecureContext(contextOf(credentials));
  } catch (cause) {
    const isMismatch = cause instanceof Error && "code" in cause && cause.code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH";
    if (!isMismatch) throw cause;
    throw new Error(`the private key ${files.key} is not that of the certificate ${files.cert}`, { cause });
  }
  const { ca, crl } = credentials;
  if (ca === undefined) return undefined;
  return new ClientTrust(ca.toString("latin1"), crl === undefined ? [] : splitLists(crl.toString("latin1")));
}

function contextOf({ cert, key, ca, crl }: Credentials): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: "TLSv1.2",
    secureOptions: secureOptionsOf(ca),
    ...(ca !== undefined && { ca }),
    ...(crl !== undefined && { crl: [...splitLists(crl.toString("latin1"))] }),
  };
}

/**
 * Another handshake on an open connection could show another certificate than the one that was verified, and costs far
 * more here than there; HTTP/2 forbids it. A resumed session would skip the verification of the certificate.
 */
function secureOptionsOf(ca: Buffer | undefined): number {
  return constants.SSL_OP_NO_RENEGOTIATION | (ca === undefined ? 0 : constants.SSL_OP_NO_TICKET);
}

function areEqual(a: Credentials, b: Credentials): boolean {
  return a.cert.equals(b.cert) && a.key.equals(b.key) && isSameTrust(a, b);
}

function isSameTrust(a: Credentials, b: Credentials): boolean {
  return areSame(a.ca, b.ca) && areSame(a.crl, b.crl);
}

function areSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
