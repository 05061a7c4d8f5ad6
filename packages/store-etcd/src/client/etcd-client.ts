import { checkServerIdentity, type PeerCertificate } from "node:tls";
import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import {
  decodeLease,
  decodeRange,
  decodeToken,
  decodeTransaction,
  encodeAuthenticate,
  encodeLeaseGrant,
  encodeLeaseId,
  encodeRange,
  encodeTransaction,
  encodeWatch,
  methods,
  type RangeRequest,
  type RangeResponse,
  type Transaction,
  type TransactionResponse,
} from "../wire/messages.ts";
import { placeOf } from "./endpoint.ts";
import { findEndpointFault } from "./endpoint-fault.ts";
import { Handshakes } from "./handshakes.ts";
import type { EtcdTls } from "./tls-files.ts";

export interface EtcdClientOptions {
  /** `host:port`, tried in turn. */
  readonly endpoints: readonly string[];
  /**
   * Reads the files of TLS, or throws; called again when an endpoint does not answer, because they may have been renewed:
   * returns the former ones if they were not.
   */
  readonly readTls?: (former?: EtcdTls) => EtcdTls;
  readonly auth?: { readonly user: string; readonly password: string };
  /** For all attempts of one call together, in milliseconds. */
  readonly timeoutMs: number;
}

/** A call that etcd did not answer, or refused. */
export class EtcdError extends Error {
  override readonly name = "EtcdError";
  readonly code: status;

  constructor(message: string, code: status, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  /** Whether the revision that was asked for is compacted away. */
  get isCompacted(): boolean {
    return this.code === status.OUT_OF_RANGE;
  }

  /** Whether the lease that was named is not there any more. */
  get isLeaseGone(): boolean {
    return this.code === status.NOT_FOUND && this.message.includes("lease not found");
  }
}

/** No endpoint can be used until somebody changes a certificate or an option. */
export class EndpointFaultError extends EtcdError {
  constructor(faults: readonly string[], cause: EtcdError) {
    super(faults.join("; "), cause.code, cause);
  }
}

/** What is wrong with endpoints, by their index; undefined: nothing was found. */
type EndpointFaults = Map<number, string | undefined>;

type Bidi = ClientDuplexStream<Buffer, Buffer>;

const channelOptions: ChannelOptions = {
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  // etcd closes connections that ping more often than every 5 seconds.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2_000,
  "grpc.enable_retries": 0,
};

/** Of the time for a call, the first attempt gets this share, so that another endpoint can be asked. */
const SHARE_OF_ATTEMPT = 0.3;
const PAUSE_MS = 50;
/** With less time left, another attempt would tell nothing but that its time was over. */
const LEAST_MS = 200;
/** How long is looked for why an endpoint cannot be connected to. */
const FAULT_WITHIN_MS = 1_000;
/** How grpc-js ends the text of a failed connection if it has no hint. */
const NO_HINT = /\s*Resolution note:\s*$/;
const FULL = "etcd is full: its quota is used up; compact and defragment it or raise the quota, then disarm the alarm";

/**
 * grpc-js names the server in TLS as the endpoint does, and Node 26 refuses an address as a name (RFC 6066, section 3).
 * So a server at an address has another name, and its certificate is still checked for the address.
 */
function createSecureClient(
  endpoint: string,
  { ca, key, cert }: EtcdTls,
  watch: (credentials: ChannelCredentials) => ChannelCredentials,
): Client {
  const files = [ca ?? null, key ?? null, cert ?? null] as const;
  const { host, isAddress, serverName } = placeOf(endpoint);
  if (!isAddress) return new Client(endpoint, watch(credentials.createSsl(...files)), channelOptions);
  const isOfAddress = (_: string, certificate: PeerCertificate): Error | undefined =>
    checkServerIdentity(host, certificate);
  return new Client(endpoint, watch(credentials.createSsl(...files, { checkServerIdentity: isOfAddress })), {
    ...channelOptions,
    "grpc.ssl_target_name_override": serverName,
  });
}

/** Calls etcd at the first endpoint that answers. Every call has a deadline and can be repeated without harm. */
export class EtcdClient {
  readonly #options: EtcdClientOptions;
  #tls: EtcdTls | undefined;
  #clients: readonly Client[];
  readonly #handshakes = new Handshakes();
  readonly #closing = new AbortController();
  #current = 0;
  #token: Promise<string> | undefined;
  #isClosed = false;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
    this.#tls = options.readTls?.();
    this.#clients = this.#createClients(this.#tls);
  }

  async range(request: RangeRequest): Promise<RangeResponse> {
    return decodeRange(await this.#call(methods.range, encodeRange(request)));
  }

  async transaction(transaction: Transaction): Promise<TransactionResponse> {
    return decodeTransaction(await this.#call(methods.txn, encodeTransaction(transaction)));
  }

  async grantLease(ttlSeconds: number): Promise<bigint> {
    return decodeLease(await this.#call(methods.leaseGrant, encodeLeaseGrant(ttlSeconds))).id;
  }

  async revokeLease(id: bigint): Promise<void> {
    await this.#call(methods.leaseRevoke, encodeLeaseId(id));
  }

  /** Renews a lease. Resolves to false if there is no such lease any more. */
  async renewLease(id: bigint): Promise<boolean> {
    const answer = await this.#repeat((client, metadata, withinMs) => {
      const stream = bidi(client, methods.leaseKeepAlive, metadata, withinMs);
      return new Promise<Buffer>((resolve, reject) => {
        stream.once("data", (message: Buffer) => {
          resolve(message);
          stream.cancel();
        });
        stream.on("error", reject);
        stream.once("end", () => reject(new EtcdError("the stream of the lease ended", status.UNAVAILABLE)));
        stream.write(encodeLeaseId(id));
      });
    });
    return decodeLease(answer).ttlSeconds > 0;
  }

  /** A stream of what becomes of a key, at the current endpoint; its end is told by `error` or `end`. */
  async watch(key: string, startRevision: bigint): Promise<Bidi> {
    const { client, metadata } = await this.#attempt(this.#options.timeoutMs);
    const stream = bidi(client, methods.watch, metadata);
    stream.write(encodeWatch(key, startRevision));
    return stream;
  }

  /** Asks the next endpoint from now on, with certificates that were renewed meanwhile. */
  turn(): void {
    this.#takeRenewed();
    this.#current = (this.#current + 1) % this.#clients.length;
  }

  close(): void {
    this.#isClosed = true;
    this.#closing.abort();
    for (const client of this.#clients) client.close();
    this.#handshakes.end();
  }

  #createClients(tls: EtcdTls | undefined): readonly Client[] {
    return this.#options.endpoints.map((endpoint) =>
      tls === undefined
        ? new Client(endpoint, credentials.createInsecure(), channelOptions)
        : createSecureClient(endpoint, tls, (given) => this.#handshakes.watch(given)),
    );
  }

  /** Files that cannot be used, or of which only one is renewed yet, change nothing: they are read again. */
  #takeRenewed(): void {
    if (this.#isClosed) return;
    try {
      const tls = this.#options.readTls?.(this.#tls);
      if (tls === this.#tls) return;
      const former = this.#clients;
      this.#clients = this.#createClients(tls);
      this.#tls = tls;
      for (const client of former) client.close();
    } catch {
      // The outage goes on with its own reason.
    }
  }

  #call(path: string, request: Buffer): Promise<Buffer> {
    return this.#repeat((client, metadata, withinMs) => unary(client, path, request, metadata, withinMs));
  }

  async #repeat(call: (client: Client, metadata: Metadata, withinMs: number) => Promise<Buffer>): Promise<Buffer> {
    const { timeoutMs } = this.#options;
    // The clock of the day may be set meanwhile.
    const end = performance.now() + timeoutMs;
    let hasNewToken = false;
    const faults: EndpointFaults = new Map();
    for (;;) {
      const endpoint = this.#current;
      const clients = this.#clients;
      const attemptEnd = Math.min(end, performance.now() + Math.max(timeoutMs * SHARE_OF_ATTEMPT, 1));
      try {
        const { client, metadata } = await this.#attempt(attemptEnd - performance.now());
        return await call(client, metadata, attemptEnd - performance.now());
      } catch (cause) {
        const error = errorOf(cause);
        if (isOldToken(error) && !hasNewToken) {
          hasNewToken = true;
          this.#token = undefined;
          continue;
        }
        if (!isPassing(error) || this.#isClosed) throw error;
        if (isUnconnected(error)) await this.#findFault(endpoint, faults);
        if (this.#current === endpoint) this.turn();
        // Those of files that were renewed meanwhile say nothing.
        if (this.#clients !== clients) faults.clear();
        const known = [...faults.values()].filter((fault) => fault !== undefined);
        if (known.length === clients.length) throw new EndpointFaultError(known, error);
        if (performance.now() + LEAST_MS >= end) throw known.length === 0 ? error : withFaults(error, endpoint, faults);
        await pause(PAUSE_MS * (1 + Math.random()));
      }
    }
  }

  /** Adds why an endpoint cannot be used until somebody changes something; is looked for once. */
  async #findFault(endpoint: number, faults: EndpointFaults): Promise<void> {
    const name = this.#options.endpoints[endpoint];
    if (name === undefined || faults.has(endpoint)) return;
    const context = { tls: this.#tls, withinMs: FAULT_WITHIN_MS, signal: this.#closing.signal };
    const fault = await findEndpointFault(name, context);
    faults.set(endpoint, fault && `etcd at ${name} ${fault}`);
  }

  async #attempt(withinMs: number): Promise<{ readonly client: Client; readonly metadata: Metadata }> {
    if (this.#isClosed) throw new EtcdError("the ledger is closed", status.CANCELLED);
    const client = this.#clients[this.#current];
    if (client === undefined) throw new TypeError("expected an endpoint of etcd");
    const metadata = new Metadata();
    // A member that has no leader says so at once, and ends a stream; else it would let the call wait.
    metadata.set("hasleader", "true");
    const { auth } = this.#options;
    if (auth === undefined) return { client, metadata };
    this.#token ??= unary(
      client,
      methods.authenticate,
      encodeAuthenticate(auth.user, auth.password),
      metadata,
      withinMs,
    ).then(decodeToken);
    try {
      const authenticated = metadata.clone();
      authenticated.set("token", await this.#token);
      return { client, metadata: authenticated };
    } catch (cause) {
      this.#token = undefined;
      throw cause;
    }
  }
}

function unary(client: Client, path: string, request: Buffer, metadata: Metadata, withinMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      same,
      same,
      request,
      metadata,
      { deadline: Date.now() + withinMs },
      (error, answer) => {
        if (error === null && answer !== undefined) resolve(answer);
        else reject(error ?? new EtcdError("etcd gave no answer", status.UNKNOWN));
      },
    );
  });
}

function bidi(client: Client, path: string, metadata: Metadata, withinMs?: number): Bidi {
  return client.makeBidiStreamRequest<Buffer, Buffer>(
    path,
    same,
    same,
    metadata,
    withinMs === undefined ? {} : { deadline: Date.now() + withinMs },
  );
}

function same(bytes: Buffer): Buffer {
  return bytes;
}

/** An error of grpc-js as one of ours. */
function errorOf(cause: unknown): EtcdError {
  if (cause instanceof EtcdError) return cause;
  const { code = status.UNKNOWN, details, message = String(cause) } = (cause ?? {}) as Partial<ServiceError>;
  const text = (details || message).replace(/^etcdserver: /, "").replace(NO_HINT, "");
  if (/database space exceeded/.test(text)) return new EtcdError(FULL, code, cause);
  return new EtcdError(`etcd: ${text}`, code, cause);
}

/** Whether another attempt, or another member, may answer. */
function isPassing({ code, message }: EtcdError): boolean {
  if (code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED) return true;
  return (code === status.RESOURCE_EXHAUSTED && /too many requests/.test(message)) || code === status.CANCELLED;
}

/** The error of the last attempt, with what is wrong with other endpoints. */
function withFaults(error: EtcdError, endpoint: number, faults: EndpointFaults): EtcdError {
  const last = faults.get(endpoint) === undefined ? error.message : undefined;
  const reasons = [...faults.values(), last].filter((reason) => reason !== undefined);
  return new EtcdError(reasons.join("; "), error.code, error);
}

/** Whether there was no connection, and not only no answer. */
function isUnconnected({ code, message }: EtcdError): boolean {
  return code === status.UNAVAILABLE && message.includes("No connection established");
}

function isOldToken({ code, message }: EtcdError): boolean {
  return code === status.UNAUTHENTICATED || /revision of auth store is old/.test(message);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
