import type {
  ApiVersion,
  BackOff,
  ClientDialect,
  Node,
  Parameters,
  RateLimit,
  TypeUrl,
  Variant,
} from "@xdskit/protocol";

/** The resolved configuration of a client, read from an Envoy bootstrap, a gRPC bootstrap or options. */
export interface ClientConfig {
  readonly node: Node;
  /**
   * The encoded `core.v3.Node` of the bootstrap, with fields that `node` cannot hold; undefined: `node` is complete.
   */
  readonly nodeBytes: Uint8Array | undefined;
  /**
   * `proxy` requests all Listeners and Clusters and what they refer to; `non-proxy` requests only what is watched
   * (C-SUB-21).
   */
  readonly mode: "proxy" | "non-proxy";
  /** The source of every config source that says `ads` (C-ADS-02); undefined: there is none. */
  readonly ads: GrpcSource | undefined;
  /** Where Listeners and Clusters come from. */
  readonly listeners: RootSource | undefined;
  readonly clusters: RootSource | undefined;
  /** The sources of xdstp names by authority, in order, and the source for all other authorities (C-XTP-08). */
  readonly authorities: readonly AuthoritySource[];
  readonly defaultSource: SourceConfig | undefined;
  /** Context parameters that the client adds to every xdstp name (C-XTP-12). */
  readonly nodeContextParams: ReadonlyMap<string, string>;
  /** The fetched layers of Envoy's runtime (`rtds_layer`), in order. */
  readonly runtimeLayers: readonly RuntimeLayerSource[];
  /** Where Envoy reports load (`load_stats_config`); undefined: not in the bootstrap. */
  readonly loadReports: GrpcSource | undefined;
  /** The server for which Envoy checks health (`hds_config`); undefined: not in the bootstrap. */
  readonly healthChecks: GrpcSource | undefined;
  /** Clusters of the bootstrap that resources may name as management servers (C-CFG-04). */
  readonly servers: ReadonlyMap<string, ServerConfig>;
  /**
   * The Listeners, Clusters and Secrets in an Envoy bootstrap's `static_resources`, which every mesh contains;
   * undefined: not an Envoy bootstrap, so the static resources are unknown.
   */
  readonly staticResources: readonly StaticResource[] | undefined;
}

/** The sources that a configuration names; resources may name more. */
export function sourcesIn(config: ClientConfig): readonly SourceConfig[] {
  const { ads, listeners, clusters, authorities, defaultSource, runtimeLayers } = config;
  const nested = [...authorities, ...runtimeLayers].map(({ source }) => source);
  return [ads, listeners?.source, clusters?.source, defaultSource, ...nested].filter((source) => source !== undefined);
}

/** A resource in the `static_resources` of a bootstrap. */
export interface StaticResource {
  /** In the API version of the bootstrap. */
  readonly type: TypeUrl;
  /** Its own name; for a Listener without one, its path, such as `static_resources.listeners[0]`. */
  readonly name: string;
  /** The encoded message. Do not change it. */
  readonly bytes: Uint8Array;
}

/** The source of a proxy's Listeners or Clusters. */
export interface RootSource {
  readonly source: SourceConfig;
  /** The xdstp collection to request instead of a wildcard (C-XTP-12). */
  readonly locator: string | undefined;
}

/** A Runtime resource and its source. */
export interface RuntimeLayerSource {
  readonly name: string;
  readonly source: SourceConfig;
}

export interface AuthoritySource {
  /** The names of authorities; "" stands for names without an authority. */
  readonly authorities: readonly string[];
  readonly source: SourceConfig;
  /**
   * gRPC bootstrap: `client_listener_resource_name_template` (A47), the default template for names without an
   * authority. Other bootstraps have none.
   */
  readonly listenerTemplate?: string;
}

/** Where resources come from: a resolved `ConfigSource`. Equal sources have the same `id` and are one source. */
export type SourceConfig = GrpcSource | RestSource | FileSource;

interface SourceCommon {
  /**
   * Its name in logs, stats and dumps: protocol and server names, such as `ads-delta:xds_server`, with a digest of all
   * non-default settings after `#`. The same in every process.
   */
  readonly id: string;
  /** The API version of the requested types (C-TYP-11). */
  readonly resourceApiVersion: ApiVersion;
  /** How long startup waits for the first response, in milliseconds; 0: forever. */
  readonly initialFetchTimeoutMs: number;
  readonly dialect: ClientDialect;
  /** Parameters sent with every name (C-LOC-01, C-LOC-10); undefined: names are sent unchanged. */
  readonly parameters: Parameters | undefined;
}

interface AskedSource extends SourceCommon {
  /** The API version of the methods or paths (C-TYP-11). */
  readonly apiVersion: ApiVersion;
  /** By preference, best first; at least one. */
  readonly servers: readonly ServerConfig[];
}

export interface GrpcSource extends AskedSource {
  readonly kind: "grpc";
  readonly variant: Variant;
  readonly isAggregated: boolean;
  readonly failover: "cycle" | "fallback" | "fallback-when-missing";
  readonly nodeIn: "first-request" | "every-request";
  readonly rateLimit: RateLimit | undefined;
  readonly backOff: BackOff;
}

export interface RestSource extends AskedSource {
  readonly kind: "rest";
  /** The pause between two polls, in milliseconds, plus a random part of up to the same length (C-RST-15). */
  readonly refreshDelayMs: number;
  /**
   * The timeout of one poll, in milliseconds, above 0 (C-RST-16).
   * @default 1_000
   */
  readonly requestTimeoutMs: number;
}

export interface FileSource extends SourceCommon {
  readonly kind: "file";
  readonly path: string;
  /** A move into this directory makes the client read the file again; the file itself is not watched (C-FS-10). */
  readonly watchedDirectory: string | undefined;
  /** Only moves onto the path count, not writes into the file (`fsMoveOnly`, C-FS-09). */
  readonly isMoveOnly: boolean;
  /**
   * The format of the file (C-FS-04).
   * @default by the file's extension
   */
  readonly format?: FileFormat;
}

/** The format of an xDS file. */
export type FileFormat = "binary" | "text" | "yaml" | "json";

/** A management server. */
export interface ServerConfig {
  /** The name of its cluster in the bootstrap, or its address; for display. */
  readonly name: string;
  /** A gRPC target, such as `dns:///xds.example.com:443`, `ipv4:127.0.0.1:18000` or `unix:/run/xds.sock`. */
  readonly target: string;
  /**
   * The `:authority` of calls.
   * @default that of the target
   */
  readonly authority?: string;
  readonly tls: TlsConfig | undefined;
  /** HTTP/2 keepalive pings (C-CON-01); undefined: none. */
  readonly keepalive: { readonly intervalMs: number; readonly timeoutMs: number } | undefined;
  /** TCP keepalive probes; undefined: off. Without `idleMs` the system's times apply. */
  readonly tcpKeepalive: { readonly idleMs: number | undefined } | undefined;
  /**
   * The largest response that the client accepts, in bytes (B-GRP-08).
   * @default 256 MiB
   */
  readonly maxResponseBytes: number;
  /** Sent with every call, such as `authorization`. Never logged. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The timeout for establishing a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
}

/**
 * TLS to a server: trusted roots and the client's certificate, as contents or as paths of files, which are read again
 * when they change.
 */
export interface TlsConfig {
  readonly ca: string | Uint8Array | undefined;
  readonly caPath: string | undefined;
  readonly certificate: string | Uint8Array | undefined;
  readonly certificatePath: string | undefined;
  readonly key: string | Uint8Array | undefined;
  readonly keyPath: string | undefined;
  /** The name that the server's certificate must bear; undefined: that of the target. */
  readonly serverName: string | undefined;
}
