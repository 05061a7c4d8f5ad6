import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion, BackOff, ClientDialect, Edition, Node, RateLimit, Variant } from "@xdskit/protocol";
import type { ClientReport } from "@xdskit/protocol/internal";
import type { FileFormat, TlsConfig } from "../config/client-config.ts";
import type { ConfigProblem } from "../error.ts";
import type { ResourceValidator } from "../reading/validators.ts";

/**
 * Options of a client, which is started from a bootstrap, the address of a server, or a file. Without any of these, the environment names the bootstrap, in
 * GRPC_XDS_BOOTSTRAP or GRPC_XDS_BOOTSTRAP_CONFIG (C-CFG-09).
 */
export interface XdsClientOptions {
  /**
   * Servers by `host:port` or as a gRPC target, such as `unix:/run/xds.sock`; the preferred one first.
   * @default none
   */
  readonly server?: string | readonly string[];
  /**
   * A bootstrap of Envoy or gRPC, in any of their forms: the path of a file, or its content as an object. Options cannot override
   * what it says about its servers.
   * @default the one that the environment names, if there is no `server` and no `file`
   */
  readonly bootstrap?: string | URL | Readonly<Record<string, unknown>>;
  /**
   * A file with a `DiscoveryResponse` of any type, instead of a server (C-FS-01).
   * @default none
   */
  readonly file?: string;
  /**
   * Environment variables that may name a bootstrap (C-CFG-09).
   * @default process.env
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * How bootstraps and files are read.
   * @default {}
   */
  readonly reading?: ReadingOptions;
  /**
   * How the client connects. With a bootstrap only `variant` applies: the bootstrap says the rest of each server.
   * @default {}
   */
  readonly transport?: TransportOptions;
  /**
   * Limits and timeouts.
   * @default {}
   */
  readonly limits?: ClientLimits;
  /**
   * The node; a string is its id. The node of a bootstrap overrides it, field by field. Its metadata is JSON, with at
   * most 32 levels of lists and objects; undefined fields are left out.
   * @default { id: "" }
   */
  readonly node?: string | Partial<Node>;
  /**
   * `proxy` subscribes to wildcards and to all that their resources name; `non-proxy` only to what is watched (C-SUB-21).
   * @default "proxy" for an Envoy bootstrap, else "non-proxy"
   */
  readonly mode?: "proxy" | "non-proxy";
  /**
   * Dynamic parameters of every subscription, by which a server chooses variants (C-LOC-01, C-LOC-10).
   * @default none
   */
  readonly parameters?: Readonly<Record<string, string>>;
  /**
   * The edition of the protocol that the client speaks.
   * @default "current"
   */
  readonly edition?: Edition;
  /**
   * Overrides of single protocol behaviours of the edition (requirements 4).
   * @default that of the edition
   */
  readonly dialect?: Partial<ClientDialect>;
  /**
   * Which resources are NACKed.
   * @default {}
   */
  readonly validation?: ValidationOptions;
  /**
   * The descriptors of Envoy's messages. Clients that share one need not read the descriptors again.
   * @default createEnvoyApi({ descriptors })
   */
  readonly api?: EnvoyApi;
  /**
   * Encoded `FileDescriptorSet`s of newer or private messages, if no `api` is given.
   * @default none
   */
  readonly descriptors?: readonly Uint8Array[];
  /**
   * Where the last valid configuration is kept, for starts without a reachable server (C-CLI-06).
   * @default none
   */
  readonly cache?: CacheOptions;
  /**
   * Closes the client when it aborts.
   * @default none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with each event at the sources, for logs. Exceptions that it throws become uncaught exceptions.
   * @default none
   */
  readonly onReport?: (report: ClientReport) => void;
}

/** How a client reads bootstraps and files. */
export interface ReadingOptions {
  /**
   * What an absent version or `AUTO` means in a bootstrap and in resources (E31).
   * @default the version that the bootstrap is written in
   */
  readonly autoVersion?: ApiVersion;
  /**
   * Accepts durations written as objects, and an object in place of a list, in a bootstrap (C-CFG-03).
   * @default true
   */
  readonly isLenient?: boolean;
  /**
   * Called with each warning about a bootstrap that is usable all the same, before the client exists. Exceptions that it throws become
   * uncaught exceptions.
   * @default none
   */
  readonly onWarning?: (warning: ConfigProblem) => void;
  /**
   * The format of files, whatever their extension (C-FS-04), including those of a bootstrap.
   * @default by extension
   */
  readonly fileFormat?: FileFormat;
  /**
   * Reads a file again only when another one is moved onto its path, as Envoy does, not when it is written to (C-FS-09).
   * @default false
   */
  readonly isMoveOnly?: boolean;
}

/** How a client connects to its servers. With a bootstrap only `variant` applies: the bootstrap says the rest of each server. */
export interface TransportOptions {
  /**
   * State of the World or delta. Every server speaks `sotw`.
   * @default "sotw"
   */
  readonly variant?: Variant;
  /**
   * Subscribes to all types on one stream (ADS).
   * @default true
   */
  readonly isAggregated?: boolean;
  /**
   * The version of methods and resources (C-TYP-11).
   * @default "v3"
   */
  readonly apiVersion?: ApiVersion;
  /**
   * The version of resources.
   * @default the same as `apiVersion`
   */
  readonly resourceApiVersion?: ApiVersion;
  /**
   * Polls the server over HTTP/1.1 in JSON (C-RST-06), instead of opening a stream. By default 1,000 ms between two polls, and a poll times out after
   * 1,000 ms.
   * @default false
   */
  readonly rest?: boolean | { readonly refreshDelayMs?: number; readonly requestTimeoutMs?: number };
  /**
   * Which certificates to trust; `true`: the authorities of the system.
   * @default plaintext
   */
  readonly tls?: boolean | Partial<TlsConfig>;
  /**
   * Headers of every call, such as an authorization. Never logged.
   * @default none
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * HTTP/2 PINGs (C-CON-01); `false`: none.
   * @default every 5 minutes, which every server allows
   */
  readonly keepalive?: false | { readonly intervalMs: number; readonly timeoutMs: number };
}

/** Limits and timeouts of a client. */
export interface ClientLimits {
  /**
   * The largest response accepted, in bytes (B-GRP-08).
   * @default 268_435_456 (256 MiB)
   */
  readonly maxResponseBytes?: number;
  /**
   * Timeout of a connection attempt, in milliseconds.
   * @default 5_000
   */
  readonly connectTimeoutMs?: number;
  /**
   * Milliseconds without an answer after which a name does not exist (C-NEX-02); 0: never.
   * @default 15_000
   */
  readonly initialFetchTimeoutMs?: number;
  /**
   * The pause before a stream is opened again (C-REC-02).
   * @default 500 ms to 30 s
   */
  readonly backOff?: BackOff;
  /**
   * The rate limit of requests (C-CFG-07).
   * @default none
   */
  readonly rateLimit?: RateLimit;
}

/** Which resources a client NACKs. */
export interface ValidationOptions {
  /**
   * What happens to valid resources in a response with an invalid one (B-ACK-08).
   * @default "all-or-nothing"
   */
  readonly nackPolicy?: ClientDialect["nackPolicy"];
  /**
   * NACKs resources that break validation rules of the descriptors (PGV), where the type is known (C-VAL-01).
   * @default true
   */
  readonly clientPgv?: boolean;
  /**
   * Further reasons to NACK resources (C-VAL-02, C-MSC-06).
   * @default none
   */
  readonly validators?: readonly ResourceValidator[];
}

/**
 * A file that outlives the process. Only its owner may read it, and one process at a time writes it. Entries belong to the addresses and names of the
 * servers, the `id` and `cluster` of the node, parameters, and headers that are not credentials. Tokens, certificates and keys may
 * change; clients that differ only in those need a file each.
 */
export interface CacheOptions {
  readonly path: string;
  /**
   * The largest size of the file, in bytes; what does not fit is left out.
   * @default 67_108_864 (64 MiB)
   */
  readonly maxBytes?: number;
  /**
   * Milliseconds after which an unused source is dropped.
   * @default 2_592_000_000 (30 days)
   */
  readonly unusedMs?: number;
  /**
   * Whether Secrets, and other resources with a key or a password, are kept.
   * @default "leave-out"
   */
  readonly secrets?: "leave-out" | "keep";
  /**
   * Called once with the reason if the file is unusable; the client goes on without it. Exceptions that it throws become uncaught exceptions.
   * @default none
   */
  readonly onProblem?: (message: string) => void;
}
