import type { EnvoyApi } from "@xdskit/envoy-api";
import type {
  AccessFunction,
  AccessRules,
  Choice,
  ClientChoice,
  ClientRule,
  DialectOverrides,
  Edition,
  NodeMapping,
  StructConverter,
} from "@xdskit/protocol";
import type { FuseSettings } from "@xdskit/protocol/internal";
import type { ValidationLevel } from "@xdskit/source/checks";
import type { FileOutput } from "./file-output.ts";
import type { HealthDiscovery } from "./health-discovery.ts";
import type { LedgerStore } from "./ledger/store.ts";
import type { Limits } from "./limits.ts";
import type { Log } from "./log.ts";
import type { PlacesOf } from "./source-places.ts";

/** Paths of PEM files. The server reads them again when they change. */
export interface TlsFiles {
  /** The server's certificate, followed by its chain. */
  readonly cert: string;
  readonly key: string;
  /**
   * CA certificates that verify client certificates. With it, clients must present a certificate unless
   * `requireClientCertificate` is false.
   */
  readonly ca?: string;
  /**
   * Certificate revocation lists, one for each CA. A client whose certificate one of them names is refused, and its
   * connections are closed. With it, `ca` is required.
   */
  readonly crl?: string;
  readonly requireClientCertificate?: boolean;
}

/** An address to listen on. Port 0: the system picks a free port. */
export interface ListenAddress {
  readonly host?: string;
  readonly port?: number;
}

/** An address where clients connect, with protocol overrides for the clients that connect to it. */
export interface ListenOptions extends ListenAddress, Choice {
  /**
   * Display name of the listener.
   * @default its address
   */
  readonly name?: string;
  /**
   * TLS files of this listener; `false`: plaintext.
   * @default the server's `tls`
   */
  readonly tls?: TlsFiles | false;
}

/** Where the admin API listens. */
export interface AdminAddress extends ListenAddress {
  /**
   * Host names, besides IP addresses and localhost, that requests may use; `*` allows all. Other requests are rejected,
   * to prevent DNS rebinding.
   */
  readonly names?: readonly string[];
  /**
   * TLS files, with the CA of client certificates. With them, the certificates decide who may do what at this port, on
   * loopback too. Without, callers on loopback may do everything, and others read health and metrics only unless `insecure` is set.
   */
  readonly tls?: TlsFiles;
  /** Globs of the names of certificates that may read, by kind: `uri:spiffe://prod/ns/ops/*`, `dns:`, `ip:`, `email:`, `cn:`. */
  readonly viewers?: readonly string[];
  /** As `viewers`, for those that may also change. */
  readonly operators?: readonly string[];
}

/**
 * Who may request the status of all clients (CSDS). `loopback`: clients on this machine. `certificate`: also clients
 * with a verified certificate. CSDS reveals the configuration of every client, so where every proxy has a certificate,
 * prefer `loopback`.
 */
export type ClientStatusAccess = "off" | "loopback" | "certificate" | "everybody";

/**
 * What v2 clients are served. `convert`: resources of both versions, converted where needed, for clients of either
 * version. `exact`: only resources given in v2. `off`: nothing; v2 methods end with UNIMPLEMENTED.
 */
export type V2Mode = "convert" | "exact" | "off";

/** The load reports that the server requests from clients (LRS). */
export interface LoadReportOptions {
  /**
   * Reporting interval in milliseconds, at least 1,000.
   * @default 10_000
   */
  readonly intervalMs?: number;
  /**
   * Names of the clusters to report.
   * @default "all"
   */
  readonly clusters?: readonly string[] | "all";
  /**
   * Whether clients also report each endpoint.
   * @default false
   */
  readonly endpoints?: boolean;
}

/** Polling over REST. `dialect.restLongPoll` enables long polling. */
export interface RestOptions {
  /**
   * Milliseconds that the server holds a poll without changes if the client does not send its timeout. Envoy sends
   * `x-envoy-expected-rq-timeout-ms`; the server then uses 80 % of that. The default suits the client default of one
   * second.
   * @default 800
   */
  readonly holdMs?: number;
  /**
   * Maximum of milliseconds that a poll is held, whatever the client sends.
   * @default 30_000
   */
  readonly maxHoldMs?: number;
  /**
   * Host names, besides IP addresses and localhost, at which pages in browsers may poll from their own origin; `*`
   * allows all pages. Other pages are rejected, to prevent DNS rebinding. Clients that are no browsers are not concerned.
   */
  readonly names?: readonly string[];
}

/** Which nodes a revision has to reach, and how long to wait for it. */
export interface DeploymentOptions {
  /**
   * Only nodes whose id matches this glob count.
   * @default "*"
   */
  readonly nodes?: string;
  /**
   * How many of them must have the revision at least. With 0, a revision is deployed when nobody is connected.
   * @default 0
   */
  readonly minNodes?: number;
  /**
   * Milliseconds after which the answer is how far it is then.
   * @default no limit
   */
  readonly timeoutMs?: number;
  /** Ends the wait when it is aborted, as a timeout does. */
  readonly signal?: AbortSignal;
}

/** What speaks HTTP/2 with clients: the server's own implementation, or `node:http2`. */
export type Http2Engine = "builtin" | "node";

/** Options of `createServer`. */
export interface ManagementServerOptions {
  /**
   * The message types.
   * @default the built-in Envoy messages, `createEnvoyApi()`
   */
  readonly api?: EnvoyApi;
  /**
   * Where clients connect: one address or several.
   * @default 127.0.0.1 and a free port
   */
  readonly listen?: ListenOptions | readonly ListenOptions[];
  /**
   * What speaks HTTP/2 with clients. `node` needs more memory and processor for each connection.
   * @default "builtin"
   */
  readonly http2?: Http2Engine;
  /** Where the admin API listens; `false` or absent: no admin API. */
  readonly admin?: AdminAddress | false;
  /**
   * Path of a local socket for the admin API, with file mode 0600. Its callers are operators, whatever `admin` says.
   * @default none
   */
  readonly adminSocket?: string;
  readonly tls?: TlsFiles;
  /**
   * REST on the gRPC port; `false` disables it.
   * @default enabled
   */
  readonly rest?: RestOptions | false;
  /**
   * Who may have what: rules, of which what none allows is denied, or a function.
   * @default clients on loopback, and those whose certificate names their node, may have everything; others get no
   * Secrets and no `node/` layers
   */
  readonly access?: AccessRules | AccessFunction;
  /** Without `access`: every client may have everything, and everybody may read the admin API over plaintext. */
  readonly insecure?: boolean;
  /**
   * Maps a node and its peer to the layers of its view, top-most first.
   * @default every node sees `base`
   */
  readonly nodeMapping?: NodeMapping;
  /**
   * Rejects streams and polls whose first request has no node (S-NOD-06); a node with an empty id passes, as that of an
   * Envoy without `--service-node`.
   * @default true if `nodeMapping` is set
   */
  readonly requireNode?: boolean;
  /**
   * What v2 clients are served (S-TYP-10).
   * @default "convert"
   */
  readonly v2?: V2Mode;
  /**
   * Converts the bytes of a resource, for clients that announce `envoy.config.require-any-fields-contain-struct`, so
   * that its extensions are `TypedStruct` (S-MSC-04). Called once per version of a resource, whatever the number of
   * such clients. Must not be async; a resource for which it fails is sent without conversion.
   * @default no conversion
   */
  readonly convertForStructs?: StructConverter;
  /**
   * The protocol edition for unknown clients, unless a listener or a rule sets another.
   * @default "current"
   */
  readonly edition?: Edition;
  /** Protocol switches for all clients, unless a listener or a rule sets them otherwise. */
  readonly dialect?: Omit<DialectOverrides, "requireNode">;
  /**
   * Protocol overrides for single clients: rules, of which the first match applies, or a function, which must not be
   * async; a client for which it fails gets none.
   * @default none
   */
  readonly clientOverrides?: readonly ClientRule[] | ClientChoice;
  /**
   * `control_plane.identifier` in every response.
   * @default "xdskit"
   */
  readonly controlPlane?: string;
  readonly limits?: Partial<Limits>;
  /**
   * Directory for state kept across restarts, created if missing: clusters and their served versions, no secrets. It
   * lets clients that reconnect in the middle of a change lose no request. One server uses it at a time. Problems with
   * it are reported and otherwise ignored.
   * @default none
   */
  readonly stateDir?: string;
  /**
   * Where the history of what was published is kept, by numbers, so that the server serves it again after a restart,
   * before anything is published. With a ledger, `publish` is the way to change resources. Nothing that holds a secret
   * is written. A directory is created if missing, and one server uses it at a time; without one or a store, the
   * history ends with the process.
   * @default none
   */
  readonly ledger?: {
    readonly directory?: string;
    /**
     * A store that several servers may share: each serves what any of them publishes. It is closed with the server.
     */
    readonly store?: LedgerStore;
    /**
     * Whether this server publishes: `always`; `never`, so that it only follows the store; `lease`: while it holds the
     * lease of the source, which one server of a store does. Another one takes over when it goes. Decisions on what is
     * held, and rollbacks, are made at any server.
     * @default "always"
     */
    readonly publishes?: "always" | "lease" | "never";
    /**
     * Whether connections are asked to go to another server of the store while that one has much less than its share,
     * such as one that is new: the oldest first, each about once, never one of less than a minute.
     * @default true
     */
    readonly balancesConnections?: boolean;
    /** When a change is held: nothing of it is sent until it is approved. */
    readonly fuses?: Partial<FuseSettings>;
    /** What is older goes, but for the newest, what is held, and a rollback that still has an effect. */
    readonly retention?: {
      /**
       * Revisions and decisions; live data does not count.
       * @default 1000
       */
      readonly revisions?: number;
      /** @default 30 */
      readonly days?: number;
    };
  };
  /**
   * Who may request the status of all clients (CSDS) on the client port, where there are no access rules. With rules,
   * they decide, and only `off` has an effect.
   * @default "loopback"
   */
  readonly clientStatus?: ClientStatusAccess;
  /** Load reports of clients (LRS); `false`: LRS ends with UNIMPLEMENTED. */
  readonly loadReports?: LoadReportOptions | false;
  /**
   * Serves health discovery (HDS), which has clients check the health of endpoints.
   * @default not served
   */
  readonly healthDiscovery?: HealthDiscovery;
  /** Serves an empty state before the first commit. Without it every stream ends with UNAVAILABLE until then. */
  readonly serveEmpty?: boolean;
  /**
   * What `set` and `update` do with resources that violate Envoy's validation rules, as the setting `validation` for
   * files: take them, take them and tell by `check`, or throw. What clients are known to reject, such as a
   * port above 65535, is an error by "warn" too.
   * @default "warn"
   */
  readonly validation?: ValidationLevel;
  /**
   * Directories that the server writes as files for clients that use `path_config_source`, each with the view of one
   * node.
   * @default none
   */
  readonly files?: readonly FileOutput[];
  /**
   * Looks at the source of the resources now, as `xds wait --source` asks for: resolves once what the source has is
   * committed, or its errors are reported with `reportSource`.
   * @default the source is what the program set
   */
  readonly refreshSource?: () => Promise<void>;
  /**
   * Finds where resources are in the source, so that a rejection names the file and line that it came from.
   * @default such places are not named
   */
  readonly placesOf?: PlacesOf;
  /**
   * Receives the log lines, such as `consoleLog()`.
   * @default what failed in the program or the server itself, to standard error; nothing else
   */
  readonly log?: Log;
}
