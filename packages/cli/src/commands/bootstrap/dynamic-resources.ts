import { join } from "node:path";
import type { ApiVersion } from "@xdskit/protocol";
import { SERVER_CLUSTER } from "./server-cluster.ts";
import type { EnvoyTransport } from "./transport.ts";

/** A format of resource files that Envoy reads; it is the extension of the file. */
export type FileFormat = "yaml" | "json" | "pb" | "pb_text";

export const fileFormats: readonly FileFormat[] = ["yaml", "json", "pb", "pb_text"];

/** The directory and format of the files for filesystem subscriptions. */
export interface ResourceFiles {
  readonly directory: string;
  readonly format: FileFormat;
}

/** How an Envoy subscribes to its listeners and clusters. */
export type EnvoySource =
  | { readonly transport: Exclude<EnvoyTransport, "file"> }
  | { readonly transport: "file"; readonly files: ResourceFiles };

/** The `dynamic_resources` of a bootstrap. */
export function dynamicResources(source: EnvoySource, version: ApiVersion): object {
  if (source.transport === "file") {
    return {
      cds_config: fileSource("cds", source.files, version),
      lds_config: fileSource("lds", source.files, version),
    };
  }
  if (source.transport === "rest") {
    const rest = configSource({ api_config_source: restApi(version) }, version);
    return { cds_config: rest, lds_config: rest };
  }
  const api = grpcApi(source.transport, version);
  const config = configSource(source.transport.startsWith("ads") ? { ads: {} } : { api_config_source: api }, version);
  // `ads_config` is set with separate streams too: resources may say that their endpoints and routes come over ADS.
  return { ads_config: api, cds_config: config, lds_config: config };
}

function configSource(source: object, version: ApiVersion): object {
  return { ...(version === "v3" && { resource_api_version: "V3" }), ...source };
}

function fileSource(name: string, { directory, format }: ResourceFiles, version: ApiVersion): object {
  const path = join(directory, `${name}.${format}`);
  // Watches the directory instead of the file, so that Envoy notices a swapped link, as in a Kubernetes volume.
  const watched = { path_config_source: { path, watched_directory: { path: directory } } };
  return configSource(version === "v3" ? watched : { path }, version);
}

/** REST long polling: the server may hold each poll for up to 30 seconds. */
function restApi(version: ApiVersion): object {
  return {
    api_type: "REST",
    ...(version === "v3" && { transport_api_version: "V3" }),
    cluster_names: [SERVER_CLUSTER],
    refresh_delay: "0.5s",
    request_timeout: "30s",
  };
}

function grpcApi(transport: "grpc" | "delta" | "ads" | "ads-delta", version: ApiVersion): object {
  return {
    api_type: transport.endsWith("delta") ? "DELTA_GRPC" : "GRPC",
    // Sending a node with all extensions (58 KB) once per stream is enough. v2 nodes are small, and Envoy before 1.10
    // does not know this field.
    ...(version === "v3" && { transport_api_version: "V3", set_node_on_first_message_only: true }),
    grpc_services: [{ envoy_grpc: { cluster_name: SERVER_CLUSTER } }],
  };
}
