/** The four ways in which Envoy is configured over gRPC: one stream or a stream per type, whole state or differences. */
export interface Mode {
  readonly name: "ads-delta" | "ads-sotw" | "delta" | "sotw";
  readonly apiType: "GRPC" | "DELTA_GRPC";
  readonly aggregated: boolean;
}

export const modes: readonly Mode[] = [
  { name: "ads-delta", apiType: "DELTA_GRPC", aggregated: true },
  { name: "ads-sotw", apiType: "GRPC", aggregated: true },
  { name: "delta", apiType: "DELTA_GRPC", aggregated: false },
  { name: "sotw", apiType: "GRPC", aggregated: false },
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
