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

/** What a client starts from, whatever it was read from: an Envoy bootstrap, a gRPC bootstrap, or options. */
export interface ClientConfig {
  readonly node: Node;
  /** The encoded `core.v3.Node` with everything that a plain one cannot say; undefined: `node` says it all. */
  readonly nodeBytes: Uint8Array | undefined;
  /** `proxy`: everything is asked for, and what that names; `non-proxy`: only what is watched (C-SUB-21). */
  readonly mode: "proxy" | "non-proxy";
  /** The source of all that says `ads` (C-ADS-02); undefined: there is none. */
  readonly ads: GrpcSource | undefined;
  /** Where Listeners and Clusters come from, by whatever is asked for there. */
  readonly listeners: RootSource | undefined;
  readonly clusters: RootSource | undefined;
  /** Sources by the authorities of xdstp names, in order, and the one for all others (C-XTP-08). */
  readonly authorities: readonly AuthoritySource[];
  readonly defaultSource: SourceConfig | undefined;
  /** Parameters that every xdstp name is asked for with (C-XTP-12). */
  readonly nodeContextParams: ReadonlyMap<string, string>;
  /** Layers of an Envoy's runtime that are fetched (`rtds_layer`), in order. */
  readonly runtimeLayers: readonly RuntimeLayerSource[];
  /** Where an Envoy reports its load (`load_stats_config`); undefined: the bootstrap does not say. */
  readonly loadReports: GrpcSource | undefined;
  /** For whom an Envoy checks health (`hds_config`); undefined: the bootstrap does not say. */
  readonly healthChecks: GrpcSource | undefined;
  /** Clusters of the bootstrap that resources may name as servers (C-CFG-04). */
  readonly servers: ReadonlyMap<string, ServerConfig>;
  /**
   * Listeners, Clusters and Secrets that stand in an Envoy bootstrap itself; undefined: this is none, and nobody knows what its reader has. Meshes begin
   * with them.
   */
  readonly staticResources: readonly StaticResource[] | undefined;
}

/** The sources that a configuration names; resources may name others. */
export function sourcesIn(config: ClientConfig): readonly SourceConfig[] {
  const { ads, listeners, clusters, authorities, defaultSource, runtimeLayers } = config;
  const nested = [...authorities, ...runtimeLayers].map(({ source }) => source);
  return [ads, listeners?.source, clusters?.source, defaultSource, ...nested].filter((source) => source !== undefined);
}

/** Something in the `static_resources` of a bootstrap. */
export interface StaticResource {
  /** In the version of the API that the bootstrap is of. */
  readonly type: TypeUrl;
  /** Its own; of a Listener without one its place, such as `static_resources.listeners[0]`. */
  readonly name: string;
  /** The encoded message. Not to be changed. */
  readonly bytes: Uint8Array;
}

/** A root of a proxy. */
export interface RootSource {
  readonly source: SourceConfig;
  /** An xdstp collection instead of everything (C-XTP-12). */
  readonly locator: string | undefined;
}

/** A Runtime, and where it comes from. */
export interface RuntimeLayerSource {
  readonly name: string;
  readonly source: SourceConfig;
}

export interface AuthoritySource {
  /** The names of authorities; empty stands for names without one. */
  readonly authorities: readonly string[];
  readonly source: SourceConfig;
  /**
   * gRPC bootstrap: `client_listener_resource_name_template` (A47); of names without an authority the default one. No other
   * bootstrap has any.
   */
  readonly listenerTemplate?: string;
}

/** Where resources come from: a `ConfigSource`, resolved. Equal ones are equal in `id`, and are one source. */
export type SourceConfig = GrpcSource | RestSource | FileSource;

interface SourceCommon {
  /**
   * Its name in logs, stats and dumps: how it is spoken to and the names of its servers, such as `ads-delta:xds_server`, with a digest behind `#` of what is not
   * as it is unless said otherwise. The same in every process.
   */
  readonly id: string;
  /** The version of the types that are asked for (C-TYP-11). */
  readonly resourceApiVersion: ApiVersion;
  /** How long whoever starts waits for a first answer, in milliseconds; 0: for ever. */
  readonly initialFetchTimeoutMs: number;
  readonly dialect: ClientDialect;
  /** Sent with every name (C-LOC-01, C-LOC-10); undefined: names go out as they are. */
  readonly parameters: Parameters | undefined;
}

interface AskedSource extends SourceCommon {
  /** The version of the methods or paths that are called (C-TYP-11). */
  readonly apiVersion: ApiVersion;
  /** The best first; at least one. */
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
  /** The pause between two polls, which a random one of up to as much is added to (C-RST-15). */
  readonly refreshDelayMs: number;
  /** Above 0; 1,000 unless set (C-RST-16). */
  readonly requestTimeoutMs: number;
}

export interface FileSource extends SourceCommon {
  readonly kind: "file";
  readonly path: string;
  /** Something moved into this directory makes the file be read again; the file itself is not watched (C-FS-10). */
  readonly watchedDirectory: string | undefined;
  /** Only moves onto the path count, not writes into the file (`fsMoveOnly`, C-FS-09). */
  readonly isMoveOnly: boolean;
  /** How the file is written; by the end of its name unless set (C-FS-04). */
  readonly format?: FileFormat;
}

/** How a file is written. */
export type FileFormat = "binary" | "text" | "yaml" | "json";

/** A management server. */
export interface ServerConfig {
  /** The name of its cluster in the bootstrap, or its address: for people. */
  readonly name: string;
  /** A target of gRPC, such as `dns:///xds.example.com:443`, `ipv4:127.0.0.1:18000` or `unix:/run/xds.sock`. */
  readonly target: string;
  /** What calls name as the host that they are for (`:authority`); that of the target unless set. */
  readonly authority?: string;
  readonly tls: TlsConfig | undefined;
  /** HTTP/2 pings (C-CON-01); undefined: none. */
  readonly keepalive: { readonly intervalMs: number; readonly timeoutMs: number } | undefined;
  /** TCP keepalive probes are on, with the system's times unless told. */
  readonly tcpKeepalive: { readonly idleMs: number | undefined } | undefined;
  /** The largest response that is taken, in bytes (B-GRP-08); 256 MiB unless set. */
  readonly maxResponseBytes: number;
  /** Sent with every call, such as an authorization. Never logged. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** How long a connection may take to come up, in milliseconds. */
  readonly connectTimeoutMs: number;
}

/** How a server is trusted, and how it trusts us. Contents of files, or their paths: read again when they change. */
export interface TlsConfig {
  readonly ca: string | Uint8Array | undefined;
  readonly caPath: string | undefined;
  readonly certificate: string | Uint8Array | undefined;
  readonly certificatePath: string | undefined;
  readonly key: string | Uint8Array | undefined;
  readonly keyPath: string | undefined;
  /** The name that the server's certificate has to bear; undefined: that of the target. */
  readonly serverName: string | undefined;
}
