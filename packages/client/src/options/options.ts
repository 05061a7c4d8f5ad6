import type { EnvoyApi } from "@xdskit/envoy-api";
import type {
  ApiVersion,
  BackOff,
  ClientDialect,
  ClientReport,
  Edition,
  Node,
  RateLimit,
  Variant,
} from "@xdskit/protocol";
import type { FileFormat, TlsConfig } from "../config/client-config.ts";
import type { ConfigProblem } from "../error.ts";
import type { ResourceValidator } from "../reading/validators.ts";

/**
 * How to start a client: from a bootstrap, from the address of a server, or from a file. Without any of these, from the
 * bootstrap in GRPC_XDS_BOOTSTRAP or GRPC_XDS_BOOTSTRAP_CONFIG (C-CFG-09).
 */
export interface XdsClientOptions {
  /**
   * An Envoy or gRPC bootstrap: the path of a file, or its content as an object. Options cannot override what it says
   * of its servers.
   */
  readonly bootstrap?: string | URL | Readonly<Record<string, unknown>>;
  /**
   * The environment variables to look for a bootstrap in, when no other option starts the client (C-CFG-09).
   * @default process.env
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * The version that `AUTO`, or no version, stands for in a bootstrap and in resources (E31).
   * @default the version of the bootstrap
   */
  readonly autoVersion?: ApiVersion;
  /**
   * Accept Durations written as objects, and one object for a list, in a bootstrap (C-CFG-03).
   * @default true
   */
  readonly isLenient?: boolean;
  /**
   * Called with each warning about a usable bootstrap, before the client is returned. Its exceptions are rethrown as
   * uncaught.
   */
  readonly onWarning?: (warning: ConfigProblem) => void;
  /** Servers by `host:port` or gRPC target, such as `unix:/run/xds.sock`; best first. */
  readonly server?: string | readonly string[];
  /**
   * Poll the server over HTTP/1.1 with JSON instead of opening a stream (C-RST-06). Both times are in milliseconds and
   * 1,000 by default.
   * @default false
   */
  readonly rest?: boolean | { readonly refreshDelayMs?: number; readonly requestTimeoutMs?: number };
  /** A file with a `DiscoveryResponse` of the requested type, instead of a server (C-FS-01). */
  readonly file?: string;
  /** The format of files, whatever their extension (C-FS-04); also of those that a bootstrap names. */
  readonly fileFormat?: FileFormat;
  /**
   * Only moves onto the path of a file count, as in Envoy, not writes into it (C-FS-09).
   * @default false
   */
  readonly isMoveOnly?: boolean;
  /**
   * The variant of the protocol; every server supports `sotw`.
   * @default "sotw"
   */
  readonly variant?: Variant;
  /**
   * One stream for all types (ADS).
   * @default true
   */
  readonly isAggregated?: boolean;
  /**
   * The API version of methods and resources (C-TYP-11).
   * @default "v3"
   */
  readonly apiVersion?: ApiVersion;
  /**
   * The API version of resources.
   * @default `apiVersion`
   */
  readonly resourceApiVersion?: ApiVersion;
  /** The node of the client; a string is its id. Fields of the bootstrap's own node take precedence. */
  readonly node?: string | Partial<Node>;
  /**
   * `proxy` requests all Listeners and Clusters and what they refer to, `non-proxy` only what is watched (C-SUB-21).
   * @default "proxy" for an Envoy bootstrap, otherwise "non-proxy"
   */
  readonly mode?: "proxy" | "non-proxy";
  /**
   * TLS to the server; `true` trusts the system's roots. Without it the connection is not encrypted.
   * @default false
   */
  readonly tls?: boolean | Partial<TlsConfig>;
  /** Sent with every call, such as `authorization`. Never logged. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * HTTP/2 keepalive pings, in milliseconds (C-CON-01); `false` disables them. Every server allows the default.
   * @default every 5 minutes, with a timeout of 20 s
   */
  readonly keepalive?: false | { readonly intervalMs: number; readonly timeoutMs: number };
  /**
   * The largest response that the client accepts, in bytes (B-GRP-08).
   * @default 256 MiB
   */
  readonly maxResponseBytes?: number;
  /**
   * The timeout for establishing a connection, in milliseconds.
   * @default 5_000
   */
  readonly connectTimeoutMs?: number;
  /**
   * The time without a response after which a name does not exist, in milliseconds; 0: never (C-NEX-02).
   * @default 15_000
   */
  readonly initialFetchTimeoutMs?: number;
  /**
   * The back-off before a stream is reopened (C-REC-02).
   * @default 500 ms to 30 s; 1 s to 120 s for a gRPC bootstrap
   */
  readonly backOff?: BackOff;
  /**
   * Limits the rate of requests (C-CFG-07).
   * @default no limit
   */
  readonly rateLimit?: RateLimit;
  /** Sent with every name, so that the server can choose among variants (C-LOC-01, C-LOC-10). */
  readonly parameters?: Readonly<Record<string, string>>;
  /**
   * The edition of the protocol that the client follows.
   * @default the newest
   */
  readonly edition?: Edition;
  /** Overrides single protocol behaviours of the edition (requirements 4). */
  readonly dialect?: Partial<ClientDialect>;
  /**
   * Whether a response with an invalid resource is rejected as a whole, or its valid resources are applied (B-ACK-08).
   * @default "all-or-nothing"
   */
  readonly nackPolicy?: ClientDialect["nackPolicy"];
  /**
   * Validate resources of known types by the rules of their descriptors (C-VAL-01).
   * @default true
   */
  readonly clientPgv?: boolean;
  /** Additional validation of resources (C-VAL-02, C-MSC-06). */
  readonly validators?: readonly ResourceValidator[];
  /** Envoy's API descriptors. Clients of one process that share an object read the descriptors once. */
  readonly api?: EnvoyApi;
  /** Encoded `FileDescriptorSet`s of newer or private messages; only without `api`. */
  readonly descriptors?: readonly Uint8Array[];
  /**
   * A file with the last accepted configuration, used if no server is reachable at startup (C-CLI-06).
   * @default none
   */
  readonly cache?: CacheOptions;
  /** Closes the client. */
  readonly signal?: AbortSignal;
  /** Called with every event at the sources, for logs. Its exceptions are rethrown as uncaught. */
  readonly onReport?: (report: ClientReport) => void;
}

/**
 * A file with accepted resources that outlives the process. Only its owner may read it, and one process at a time
 * writes it. Entries are keyed by the servers' addresses and names, the node's `id` and `cluster`, parameters, and
 * headers without credentials, so tokens, certificates and keys may change. Clients that differ only in those need a
 * file each.
 */
export interface CacheOptions {
  readonly path: string;
  /**
   * The size limit of the file, in bytes; resources that do not fit are left out.
   * @default 64 MiB
   */
  readonly maxBytes?: number;
  /**
   * How long a source that no client uses is kept, in milliseconds.
   * @default 30 days
   */
  readonly unusedMs?: number;
  /**
   * Whether to keep Secrets and other resources with a key or a password.
   * @default "leave-out"
   */
  readonly secrets?: "leave-out" | "keep";
  /**
   * Called when the file cannot be used, once for each message; the client continues without it. Its exceptions are
   * rethrown as uncaught.
   */
  readonly onProblem?: (message: string) => void;
}
