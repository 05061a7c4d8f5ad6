/** How Envoy subscribes over gRPC: ADS or a stream per type, SotW or delta. */
export interface Mode {
  readonly name: string;
  readonly apiType: "GRPC" | "DELTA_GRPC";
  readonly aggregated: boolean;
  /** Uses Envoy's unified mux, which is off by default. */
  readonly unifiedMux?: boolean;
  /** The longest pause before a stream is tried again. @default 30 s, Envoy's own */
  readonly longestBackOff?: string;
}

export const modes: readonly Mode[] = [
  { name: "ads-delta", apiType: "DELTA_GRPC", aggregated: true },
  { name: "ads-sotw", apiType: "GRPC", aggregated: true },
  { name: "delta", apiType: "DELTA_GRPC", aggregated: false },
  { name: "sotw", apiType: "GRPC", aggregated: false },
];

/** ADS with Envoy's unified mux, which does not subscribe again when a cluster changes. */
export const unifiedModes: readonly Mode[] = [
  { name: "ads-delta, unified mux", apiType: "DELTA_GRPC", aggregated: true, unifiedMux: true },
  { name: "ads-sotw, unified mux", apiType: "GRPC", aggregated: true, unifiedMux: true },
];

export const adsModes: readonly Mode[] = modes.filter((mode) => mode.aggregated);

/** The default mode, for scenarios that do not depend on it. */
export const adsDelta: Mode = { name: "ads-delta", apiType: "DELTA_GRPC", aggregated: true };

/** The config source that resources of a mode use: ADS, or a stream of their own to the same server. */
export function configSource(mode: Mode): object {
  if (mode.aggregated) return { resource_api_version: "V3", ads: {} };
  return { resource_api_version: "V3", api_config_source: apiConfigSource(mode) };
}

/** An ApiConfigSource with the bootstrap's xDS cluster. */
export function apiConfigSource(mode: Mode, extra: object = {}): object {
  return {
    api_type: mode.apiType,
    transport_api_version: "V3",
    set_node_on_first_message_only: true,
    grpc_services: [{ envoy_grpc: { cluster_name: "xds", ...retryPolicy(mode) } }],
    ...extra,
  };
}

function retryPolicy({ longestBackOff }: Mode): object {
  if (longestBackOff === undefined) return {};
  return { retry_policy: { retry_back_off: { base_interval: "0.5s", max_interval: longestBackOff } } };
}

/** Modes as rows of a test table: a name for the title, and the mode. */
export function named(list: readonly Mode[]): readonly (readonly [name: string, mode: Mode])[] {
  return list.map((mode) => [mode.name, mode] as const);
}
