import { join } from "node:path";
import type { ApiVersion } from "@xdskit/protocol";
import { SERVER_CLUSTER } from "./server-cluster.ts";
import type { EnvoyTransport } from "./transport.ts";

/** The formats of a file that Envoy reads, by which the file's name ends. */
export type FileFormat = "yaml" | "json" | "pb" | "pb_text";

/** Every format. */
export const fileFormats: readonly FileFormat[] = ["yaml", "json", "pb", "pb_text"];

/** Where the files of an Envoy without a network are. */
export interface ResourceFiles {
  readonly directory: string;
  readonly format: FileFormat;
}

/** Whom an Envoy asks for listeners and clusters. */
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
  // With streams of their own for clusters and listeners, too: those may say that their endpoints and routes come by ADS.
  return { ads_config: api, cds_config: config, lds_config: config };
}

function configSource(source: object, version: ApiVersion): object {
  return { ...(version === "v3" && { resource_api_version: "V3" }), ...source };
}

function fileSource(name: string, { directory, format }: ResourceFiles, version: ApiVersion): object {
  const path = join(directory, `${name}.${format}`);
  // The directory is watched, not the file: then the swap of a link, as in a Kubernetes volume, is noticed as well.
  const watched = { path_config_source: { path, watched_directory: { path: directory } } };
  return configSource(version === "v3" ? watched : { path }, version);
}

/** Long polls: each waits for a change for most of the time that it is given. */
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
    // A node with every extension is 58 KB: once per stream is enough. Those of v2 are small, and until 1.10 know nothing of this.
    ...(version === "v3" && { transport_api_version: "V3", set_node_on_first_message_only: true }),
    grpc_services: [{ envoy_grpc: { cluster_name: SERVER_CLUSTER } }],
  };
}
