/** The ways in which Envoy is configured over gRPC: one stream or a stream per type, whole state or differences. */
export interface Mode {
  readonly name: string;
  readonly apiType: "GRPC" | "DELTA_GRPC";
  readonly aggregated: boolean;
  /** Envoy's newer client code, which is off unless asked for. */
  readonly unifiedMux?: boolean;
}

export const modes: readonly Mode[] = [
  { name: "ads-delta", apiType: "DELTA_GRPC", aggregated: true },
  { name: "ads-sotw", apiType: "GRPC", aggregated: true },
  { name: "delta", apiType: "DELTA_GRPC", aggregated: false },
  { name: "sotw", apiType: "GRPC", aggregated: false },
];

/** Both variants of ADS in Envoy's newer client code, which asks for less: nothing again when a cluster changes. */
export const unifiedModes: readonly Mode[] = [
  { name: "ads-delta, unified mux", apiType: "DELTA_GRPC", aggregated: true, unifiedMux: true },
  { name: "ads-sotw, unified mux", apiType: "GRPC", aggregated: true, unifiedMux: true },
];

export const adsModes: readonly Mode[] = modes.filter((mode) => mode.aggregated);

/** The first of them: where a scenario does not depend on the mode. */
export const adsDelta: Mode = { name: "ads-delta", apiType: "DELTA_GRPC", aggregated: true };

/** The ConfigSource that resources of a mode name: the aggregated stream, or a stream of their own to the same server. */
export function configSource(mode: Mode): object {
  if (mode.aggregated) return { resource_api_version: "V3", ads: {} };
  return { resource_api_version: "V3", api_config_source: apiConfigSource(mode) };
}

/** An ApiConfigSource to the cluster of the bootstrap. */
export function apiConfigSource(mode: Mode, extra: object = {}): object {
  return {
    api_type: mode.apiType,
    transport_api_version: "V3",
    set_node_on_first_message_only: true,
    grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }],
    ...extra,
  };
}

/** Modes as the rows of a table of tests: the name for the title, and the mode. */
export function named(list: readonly Mode[]): readonly (readonly [name: string, mode: Mode])[] {
  return list.map((mode) => [mode.name, mode] as const);
}
