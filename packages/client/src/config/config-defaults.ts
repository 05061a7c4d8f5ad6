import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion, BackOff, ClientDialect, Parameters, Variant } from "@xdskit/protocol";
import { clientDialect } from "@xdskit/protocol/internal";
import type { FileFormat, TlsConfig } from "./client-config.ts";

/** Defaults for what a configuration leaves out. */
export interface ConfigDefaults {
  /**
   * The protocol behaviour of all sources.
   * @default that of the newest edition
   */
  readonly dialect?: ClientDialect;
  /**
   * The version that `AUTO`, or no version, stands for (`autoVersion`, E31).
   * @default the version of the bootstrap
   */
  readonly autoVersion?: ApiVersion;
  /**
   * Accept Durations written as objects, and one object for a list (`lenientBootstrap`, C-CFG-03).
   * @default true
   */
  readonly isLenient?: boolean;
  /** Only moves onto the path of a file count, not writes into it (`fsMoveOnly`, C-FS-09). */
  readonly isMoveOnly?: boolean;
  /** The format of all files, whatever their extension (C-FS-04). */
  readonly fileFormat?: FileFormat;
  /**
   * The back-off between streams (C-REC-02).
   * @default 500 ms to 30 s; 1 s to 120 s for a gRPC bootstrap
   */
  readonly backOff?: BackOff;
  /**
   * The largest response that the client accepts, in bytes (B-GRP-08).
   * @default 256 MiB
   */
  readonly maxResponseBytes?: number;
  /**
   * The variant for a gRPC bootstrap, which cannot state it.
   * @default "sotw"
   */
  readonly variant?: Variant;
  /**
   * What the client requests (C-SUB-21).
   * @default "proxy" for an Envoy bootstrap, "non-proxy" for a gRPC bootstrap
   */
  readonly mode?: "proxy" | "non-proxy";
  /** Parameters sent with every name (C-LOC-01). */
  readonly parameters?: Parameters;
  /** The client's user agent where the bootstrap sets none. */
  readonly userAgent?: { readonly name: string; readonly version: string };
}

/** What reading a configuration needs. */
export interface ConfigOptions {
  readonly api: EnvoyApi;
  readonly defaults?: ConfigDefaults;
  /**
   * Whether a file or directory exists (C-FS-11).
   * @default asks the file system
   */
  readonly fileExists?: (path: string) => boolean;
}

const MIB = 1024 * 1024;

/** In bytes (requirements 0.1). */
export const MAX_RESPONSE_BYTES: number = 256 * MIB;

/** How long startup waits for a first response (`ConfigSource.initial_fetch_timeout`), in milliseconds. */
export const INITIAL_FETCH_TIMEOUT_MS = 15_000;

/** Default HTTP/2 keepalive pings (C-CON-01). */
export const KEEPALIVE = { intervalMs: 300_000, timeoutMs: 20_000 } as const;

/** The default connection timeout, in milliseconds, as in Envoy's clusters. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** The default pause between two polls, in milliseconds. */
export const REFRESH_DELAY_MS = 1_000;

/** The default timeout of a poll, in milliseconds (C-RST-16). */
export const REQUEST_TIMEOUT_MS = 1_000;

/** Envoy's back-off (C-REC-02). */
export const envoyBackOff: BackOff = { baseMs: 500, maxMs: 30_000 };

/** The back-off of gRPC clients. */
export const grpcBackOff: BackOff = { baseMs: 1_000, maxMs: 120_000 };

/** The dialect of sources that do not set one. */
export function dialectOf(defaults: ConfigDefaults): ClientDialect {
  return defaults.dialect ?? clientDialect();
}

/** TLS that trusts the system's roots, without a client certificate. */
export const systemTls: TlsConfig = {
  ca: undefined,
  caPath: undefined,
  certificate: undefined,
  certificatePath: undefined,
  key: undefined,
  keyPath: undefined,
  serverName: undefined,
};
