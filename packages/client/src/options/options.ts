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
 * How a client is started: from a bootstrap, from the address of a server, or from a file. Without any of these, from the bootstrap that the environment names, in
 * GRPC_XDS_BOOTSTRAP or GRPC_XDS_BOOTSTRAP_CONFIG (C-CFG-09).
 */
export interface XdsClientOptions {
  /**
   * A bootstrap of an Envoy or of gRPC, in any form these take: the path of a file, or its content as an object. What it says of its servers
   * cannot be said by options besides.
   */
  readonly bootstrap?: string | URL | Readonly<Record<string, unknown>>;
  /** Where a bootstrap is looked for that nothing else says (C-CFG-09); the environment of the process unless set. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * What saying no version, or `AUTO`, stands for in a bootstrap and in resources (E31); the version that it is written in unless set.
   */
  readonly autoVersion?: ApiVersion;
  /** Durations written as objects, and one object for a list, are taken in a bootstrap (C-CFG-03); so unless set. */
  readonly isLenient?: boolean;
  /**
   * Called with what is odd in a bootstrap that can be used all the same, before the client is there. What it throws is thrown as one that nobody
   * catches.
   */
  readonly onWarning?: (warning: ConfigProblem) => void;
  /** Servers by `host:port` or as a target of gRPC, such as `unix:/run/xds.sock`; the best first. */
  readonly server?: string | readonly string[];
  /**
   * Polls the server over HTTP/1.1, in JSON (C-RST-06), instead of a stream. The pause between two polls is 1,000 ms unless set, a poll takes at most
   * 1,000 ms unless set.
   */
  readonly rest?: boolean | { readonly refreshDelayMs?: number; readonly requestTimeoutMs?: number };
  /** In the place of a server: a file that holds a `DiscoveryResponse` of whatever type is asked for (C-FS-01). */
  readonly file?: string;
  /** How files are written, whatever their names end with (C-FS-04); those of a bootstrap too. */
  readonly fileFormat?: FileFormat;
  /** Files: only something moved onto a path counts, as for an Envoy, not a write into it (C-FS-09); not so unless set. */
  readonly isMoveOnly?: boolean;
  /** How the server is spoken to; `sotw`, which every server speaks, unless set. */
  readonly variant?: Variant;
  /** All types on one stream; so unless set. */
  readonly isAggregated?: boolean;
  /** The version of the methods and of the resources (C-TYP-11); `v3` unless set. */
  readonly apiVersion?: ApiVersion;
  /** The version of the resources, if it is another one. */
  readonly resourceApiVersion?: ApiVersion;
  /** How the client describes itself; a text is its id. A bootstrap's own node goes before, field by field. */
  readonly node?: string | Partial<Node>;
  /**
   * `proxy` asks for everything and what that names, as is so of an Envoy's bootstrap unless set; `non-proxy`, as is so of all else, only for
   * what is watched (C-SUB-21).
   */
  readonly mode?: "proxy" | "non-proxy";
  /** How the server is trusted; `true`: by the authorities of the system. Without it nothing is encrypted. */
  readonly tls?: boolean | Partial<TlsConfig>;
  /** Sent with every call, such as an authorization. Never logged. */
  readonly headers?: Readonly<Record<string, string>>;
  /** HTTP/2 pings (C-CON-01); every 5 minutes unless set, which every server allows. `false`: none. */
  readonly keepalive?: false | { readonly intervalMs: number; readonly timeoutMs: number };
  /** The largest response that is taken, in bytes (B-GRP-08); 256 MiB unless set. */
  readonly maxResponseBytes?: number;
  /** How long a connection may take to come up, in milliseconds; 5,000 unless set. */
  readonly connectTimeoutMs?: number;
  /** After how long without an answer a name does not exist, in milliseconds (C-NEX-02); 15,000 unless set, 0: never. */
  readonly initialFetchTimeoutMs?: number;
  /** The pause before a stream is opened again (C-REC-02); 500 ms to 30 s unless set. */
  readonly backOff?: BackOff;
  /** At most so many requests (C-CFG-07); no limit unless set. */
  readonly rateLimit?: RateLimit;
  /** Sent with every name, so that a server may choose among variants (C-LOC-01, C-LOC-10). */
  readonly parameters?: Readonly<Record<string, string>>;
  /** How a client of that edition of the protocol speaks; today's unless set. */
  readonly edition?: Edition;
  /** Single switches (requirements 4). */
  readonly dialect?: Partial<ClientDialect>;
  /** What becomes of the good resources in a response with a bad one (B-ACK-08); `all-or-nothing` unless set. */
  readonly nackPolicy?: ClientDialect["nackPolicy"];
  /** Whether the rules of the descriptors are applied to what comes, where the type is known (C-VAL-01); so unless set. */
  readonly clientPgv?: boolean;
  /** More to refuse resources for (C-VAL-02, C-MSC-06). */
  readonly validators?: readonly ResourceValidator[];
  /** What is known of Envoy's messages. One for all clients of a process saves the time to read the descriptors. */
  readonly api?: EnvoyApi;
  /** Encoded `FileDescriptorSet`s of newer or private messages, where no `api` is given. */
  readonly descriptors?: readonly Uint8Array[];
  /** Where the last configuration that was good is kept, to be used if no server can be reached at the start (C-CLI-06). None unless set. */
  readonly cache?: CacheOptions;
  /** Closes the client. */
  readonly signal?: AbortSignal;
  /** Called with all that happens at the sources, for logs. What it throws is thrown as one that nobody catches. */
  readonly onReport?: (report: ClientReport) => void;
}

/**
 * A file that outlives the process. Only its owner may read it, and one process at a time writes it. What is kept goes by who is asked and who asks: the
 * addresses and names of the servers, the `id` and `cluster` of the node, parameters, and headers that are no credentials. Tokens, certificates and keys may
 * change; clients that only those tell apart are to have a file each.
 */
export interface CacheOptions {
  readonly path: string;
  /** What does not fit into as many bytes is left out; 64 MiB unless set. */
  readonly maxBytes?: number;
  /** A source that no client asked for so long is dropped, in milliseconds; 30 days unless set. */
  readonly unusedMs?: number;
  /** What becomes of Secrets, and of what else holds a key or a password; `leave-out` unless set. */
  readonly secrets?: "leave-out" | "keep";
  /**
   * The file cannot be used, and the client goes on without; the same is told once. What it throws is thrown as one that nobody catches.
   */
  readonly onProblem?: (message: string) => void;
}
