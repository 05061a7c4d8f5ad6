import type { EnvoyApi } from "@xdskit/envoy-api";
import type {
  Choice,
  ClientChoice,
  ClientRule,
  DialectOverrides,
  Edition,
  NodeMapping,
  StructConverter,
} from "@xdskit/protocol";
import type { FileOutput } from "./file-output.ts";
import type { HealthDiscovery } from "./health-discovery.ts";
import type { Log } from "./log.ts";

/** What a server takes before it says no. Whoever goes beyond gets a status that names the limit; nobody else is hurt. */
export interface Limits {
  /** Open connections. Beyond it a new one is closed at once. Default 50,000. */
  readonly maxConnections: number;
  /** Open connections of one client address (host, without port). Beyond it a new one is closed at once. Default 10,000. */
  readonly maxConnectionsPerPeer: number;
  /**
   * Open discovery streams of the whole server, and as many other calls: health, reflection, status, load. Beyond it a new one
   * ends with RESOURCE_EXHAUSTED. Default 50,000.
   */
  readonly maxStreams: number;
  /** The same of one client address (host, without port). Default 10,000. */
  readonly maxStreamsPerPeer: number;
  /** Names that one stream may be subscribed to, over all types. Beyond it the stream ends with RESOURCE_EXHAUSTED. Default 250,000. */
  readonly maxSubscriptionsPerStream: number;
  /** Types that one stream may ask for, known or not. Beyond it the stream ends with RESOURCE_EXHAUSTED. Default 64. */
  readonly maxTypesPerStream: number;
  /**
   * Responses of one type that a stream may leave neither accepted nor refused while it goes on asking. Beyond it the stream ends
   * with RESOURCE_EXHAUSTED. Default 1,000.
   */
  readonly maxUnacknowledgedPerType: number;
  /** Bytes of one request, after decompression (B-GRP-08). Beyond it RESOURCE_EXHAUSTED. Default 64 MiB. */
  readonly maxRequestBytes: number;
  /** Bytes of the body of one request over REST. Beyond it 413. Default 16 MiB. */
  readonly maxRestRequestBytes: number;
  /** Bytes of the node in a request, beside its extensions, which are passed over. Beyond it RESOURCE_EXHAUSTED. Default 64 KiB. */
  readonly maxNodeBytes: number;
  /** Bytes that requests which are not read to their end hold: unfinished ones, and those that wait. Beyond it RESOURCE_EXHAUSTED. Default 512 MiB. */
  readonly maxReceivedBytes: number;
  /** The same of one client address (host, without port). Default 256 MiB. */
  readonly maxReceivedBytesPerPeer: number;
  /** Milliseconds in which a request that has begun must arrive. Beyond it RESOURCE_EXHAUSTED, 408 over REST. Default 30,000. */
  readonly maxMessageMs: number;
  /** Bytes that may wait for one stream to read them. Beyond it the stream is reset as exhausted. Default 512 MiB. */
  readonly maxPendingBytes: number;
  /** Milliseconds in which a stream must take what was written to it (256 KB at most). Beyond it the stream is reset. Default 60,000. */
  readonly maxBlockedMs: number;
  /**
   * Milliseconds after which a connection is asked to go (GOAWAY), give or take 10 %, so that clients spread over the
   * servers there are (S-CON-03). 0, the default: never.
   */
  readonly maxConnectionAgeMs: number;
  /** Milliseconds that the streams of an old connection have to go by themselves; then UNAVAILABLE. Default 10,000. */
  readonly maxConnectionAgeGraceMs: number;
  /** Bytes of one answer of client status. Beyond it RESOURCE_EXHAUSTED. Default 64 MiB. */
  readonly maxStatusBytes: number;
  /** Clients that report their load. Beyond it RESOURCE_EXHAUSTED. Default 50,000. */
  readonly maxLoadReporters: number;
  /** Clusters, localities, metrics, endpoints that reported load is told apart by. What is beyond it is left out. Default 100,000. */
  readonly maxLoadEntries: number;
  /** Milliseconds between PINGs to a client. 0: none. Default 30,000. */
  readonly keepaliveMs: number;
  /** Milliseconds in which a PING must be answered, else the connection is closed and its state freed. Default 10,000. */
  readonly keepaliveTimeoutMs: number;
  /** Milliseconds that a new connection has to show which protocol it speaks. Default 10,000. */
  readonly handshakeTimeoutMs: number;
}

export type LimitName = keyof Limits;

export const defaultLimits: Limits = {
  maxConnections: 50_000,
  maxConnectionsPerPeer: 10_000,
  maxStreams: 50_000,
  maxStreamsPerPeer: 10_000,
  maxSubscriptionsPerStream: 250_000,
  maxTypesPerStream: 64,
  maxUnacknowledgedPerType: 1_000,
  maxRequestBytes: 64 * 1024 * 1024,
  maxRestRequestBytes: 16 * 1024 * 1024,
  maxNodeBytes: 64 * 1024,
  maxReceivedBytes: 512 * 1024 * 1024,
  maxReceivedBytesPerPeer: 256 * 1024 * 1024,
  maxMessageMs: 30_000,
  maxPendingBytes: 512 * 1024 * 1024,
  maxBlockedMs: 60_000,
  maxConnectionAgeMs: 0,
  maxConnectionAgeGraceMs: 10_000,
  maxStatusBytes: 64 * 1024 * 1024,
  maxLoadReporters: 50_000,
  maxLoadEntries: 100_000,
  keepaliveMs: 30_000,
  keepaliveTimeoutMs: 10_000,
  handshakeTimeoutMs: 10_000,
};

export function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(defaultLimits, name);
}

/** Every limit, in the order in which they are printed. */
export const limitNames: readonly LimitName[] = Object.keys(defaultLimits).filter(isLimitName);

/** Paths of PEM files; they are read again when they change. */
export interface TlsFiles {
  /** The server's certificate, followed by its chain. */
  readonly cert: string;
  readonly key: string;
  /** Authorities that client certificates are checked against. With it, clients must show one unless `requireClientCertificate` is false. */
  readonly ca?: string;
  readonly requireClientCertificate?: boolean;
}

/** An address to listen at. Port 0 is a port that the system picks. */
export interface ListenAddress {
  readonly host?: string;
  readonly port?: number;
}

/** An address where clients connect, and how those that come to it are spoken to. */
export interface ListenOptions extends ListenAddress, Choice {
  /** What people call it. Default: its address. */
  readonly name?: string;
  /** Default: the server's; `false`: none. */
  readonly tls?: TlsFiles | false;
}

/** Where the admin API listens. */
export interface AdminAddress extends ListenAddress {
  /** Names, beside addresses and localhost, that it may be called by; `*` for all. Others are refused (DNS rebinding). */
  readonly names?: readonly string[];
}

/**
 * Who may ask for the status of all clients (CSDS). `certificate`: whoever shows a certificate that was verified, and this
 * machine. It tells everybody's configuration, so a fleet in which every proxy has a certificate is better left at `loopback`.
 */
export type ClientStatusAccess = "off" | "loopback" | "certificate" | "everybody";

/**
 * What clients of v2 get: what was given in v3 as well, converted (and clients of v3 what was given in v2); only what was
 * given in v2; or nothing, methods of v2 end with UNIMPLEMENTED.
 */
export type V2Mode = "convert" | "exact" | "off";

/** What clients are asked to report of their load (LRS). */
export interface LoadReportOptions {
  /** How often, in milliseconds, from 1,000. Default 10,000. */
  readonly intervalMs?: number;
  /** Clusters by name. Default: all that a client has. */
  readonly clusters?: readonly string[] | "all";
  /** Also for each endpoint. Default: no. */
  readonly endpoints?: boolean;
}

/** How polls over REST are answered; `dialect.restLongPoll` says whether they are held at all. */
export interface RestOptions {
  /**
   * Milliseconds for which a poll is held while nothing changes, where the client does not say how long it waits: Envoy does, in
   * `x-envoy-expected-rq-timeout-ms`, and 80 % of that are used. Default 800: clients wait for one second by default.
   */
  readonly holdMs?: number;
  /** The longest that a poll is held, whatever the client says. Default 30,000. */
  readonly maxHoldMs?: number;
}

/** What a management server is made from. */
export interface ManagementServerOptions {
  /** Default: the built-in messages of Envoy, `createEnvoyApi()`. */
  readonly api?: EnvoyApi;
  /** Where clients connect: one address or several. Default: 127.0.0.1, a free port. */
  readonly listen?: ListenOptions | readonly ListenOptions[];
  /** The admin API; `false` or nothing: none. */
  readonly admin?: AdminAddress | false;
  readonly tls?: TlsFiles;
  /** REST on the port of gRPC; `false`: none. Default: served. */
  readonly rest?: RestOptions | false;
  /** Gives Secrets and `node/` layers also to clients that are neither encrypted nor on loopback. */
  readonly insecure?: boolean;
  /** From a node and its peer to the layers it sees, top-most first. Default: everybody sees `base`. */
  readonly nodeMapping?: NodeMapping;
  /** Refuses streams that do not say which node they are (S-NOD-06). Default: only when there is a `nodeMapping`. */
  readonly requireNode?: boolean;
  /** What clients of version 2 of the API get (S-TYP-10). Default: `convert`. */
  readonly v2?: V2Mode;
  /**
   * Makes the extensions of a resource `TypedStruct` for clients that announce `envoy.config.require-any-fields-contain-struct`
   * (S-MSC-04): from the bytes of a resource to others of the same type. Called once for each version of a resource, whatever
   * the number of such clients. Default: they are given what everybody is.
   */
  readonly convertForStructs?: StructConverter;
  /** The edition for clients that nobody knows, where neither a listener nor a rule says another. Default: `current`. */
  readonly edition?: Edition;
  /** Switched for all, unless a listener or a rule switches it otherwise. */
  readonly dialect?: Omit<DialectOverrides, "requireNode">;
  /** What is chosen for single clients: rules, of which the first that fits counts, or a function. Default: nothing. */
  readonly clientOverrides?: readonly ClientRule[] | ClientChoice;
  /** `control_plane.identifier` in every response. Default: `xdskit`. */
  readonly controlPlane?: string;
  readonly limits?: Partial<Limits>;
  /**
   * A directory, made if need be, for what a server that comes after this one has to know so that clients which come back in
   * the middle of a change lose no request: Clusters, and the versions of them that clients were sent; nothing secret. One
   * server uses it at a time. Whatever is wrong with it is reported, and ignored. Default: none.
   */
  readonly stateDir?: string;
  /** Who may ask for the status of all clients, on the port where clients connect. Default: `loopback`. */
  readonly clientStatus?: ClientStatusAccess;
  /** Load reports of clients; `false`: refused with UNIMPLEMENTED. */
  readonly loadReports?: LoadReportOptions | false;
  /** Has clients check the health of endpoints (HDS). Default: the service is not there. */
  readonly healthDiscovery?: HealthDiscovery;
  /** Serves an empty state before the first commit. Without it every stream ends with UNAVAILABLE until then. */
  readonly serveEmpty?: boolean;
  /** Directories of files for clients that follow those (`path_config_source`), each with the view of a node. Default: none. */
  readonly files?: readonly FileOutput[];
  /** Where lines of the log go. Default: nowhere. */
  readonly log?: Log;
}
