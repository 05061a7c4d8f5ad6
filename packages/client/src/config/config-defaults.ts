import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion, BackOff, ClientDialect, Parameters, Variant } from "@xdskit/protocol";
import { clientDialect } from "@xdskit/protocol";
import type { FileFormat, TlsConfig } from "./client-config.ts";

/** What holds where a configuration says nothing. */
export interface ConfigDefaults {
  /** How all sources are spoken to; that of today unless set. */
  readonly dialect?: ClientDialect;
  /** What `AUTO` and saying no version stand for (`autoVersion`, E31); unless set, the version that the bootstrap is written in. */
  readonly autoVersion?: ApiVersion;
  /** Whether Durations written as objects, and one object for a list, are taken (`lenientBootstrap`, C-CFG-03); true unless set. */
  readonly isLenient?: boolean;
  /** Files: only moves onto a path count (`fsMoveOnly`, C-FS-09). */
  readonly isMoveOnly?: boolean;
  /** How all files are written, whatever their names end with (C-FS-04). */
  readonly fileFormat?: FileFormat;
  /** 500 ms up to 30 s unless set (C-REC-02); 1 s up to 120 s in a gRPC bootstrap. */
  readonly backOff?: BackOff;
  /** In bytes (B-GRP-08); 256 MiB unless set. */
  readonly maxResponseBytes?: number;
  /** Of a gRPC bootstrap, which cannot say it; `sotw` unless set. */
  readonly variant?: Variant;
  /** `proxy` for an Envoy bootstrap, `non-proxy` for one of gRPC unless set (C-SUB-21). */
  readonly mode?: "proxy" | "non-proxy";
  /** Sent with every name (C-LOC-01). */
  readonly parameters?: Parameters;
  /** What the client calls itself where the bootstrap does not say. */
  readonly userAgent?: { readonly name: string; readonly version: string };
}

/** What the reading of a configuration stands on. */
export interface ConfigOptions {
  readonly api: EnvoyApi;
  readonly defaults?: ConfigDefaults;
  /** Whether there is a file or directory; asks the file system unless set (C-FS-11). */
  readonly fileExists?: (path: string) => boolean;
}

const MIB = 1024 * 1024;

/** In bytes (requirements 0.1). */
export const MAX_RESPONSE_BYTES: number = 256 * MIB;

/** How long whoever starts waits for a first answer (`ConfigSource.initial_fetch_timeout`). */
export const INITIAL_FETCH_TIMEOUT_MS = 15_000;

/** HTTP/2 pings, where options say nothing (C-CON-01). */
export const KEEPALIVE = { intervalMs: 300_000, timeoutMs: 20_000 } as const;

/** How long a connection may take to come up, as for an Envoy whose cluster does not say. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Between two polls, where options say nothing. */
export const REFRESH_DELAY_MS = 1_000;

/** Of a poll (C-RST-16). */
export const REQUEST_TIMEOUT_MS = 1_000;

/** Envoy's (C-REC-02). */
export const envoyBackOff: BackOff = { baseMs: 500, maxMs: 30_000 };

/** That of gRPC's clients. */
export const grpcBackOff: BackOff = { baseMs: 1_000, maxMs: 120_000 };

/** The dialect of sources that say nothing of it. */
export function dialectOf(defaults: ConfigDefaults): ClientDialect {
  return defaults.dialect ?? clientDialect();
}

/** A server that is trusted by the system's authorities, and is shown nothing. */
export const systemTls: TlsConfig = {
  ca: undefined,
  caPath: undefined,
  certificate: undefined,
  certificatePath: undefined,
  key: undefined,
  keyPath: undefined,
  serverName: undefined,
};
