import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ClientConfig } from "../config/client-config.ts";
import { resolveConfigSource } from "../config/resolve-config-source.ts";
import { XdsClientError } from "../error.ts";
import type { XdsResource } from "../resource/xds-resource.ts";
import { sourceOf } from "../routing/route.ts";
import { bestServerOf, type SideServer } from "./self.ts";

/**
 * Where a Cluster wants its load to be reported, by its `lrs_server`: a source, or `self`, where it came from itself (C-LRS-01). Undefined: nowhere. Throws an
 * `XdsClientError` (`CONFIG_INVALID`) if that cannot be resolved, or is no server of gRPC.
 */
export function loadServerIn(cluster: XdsResource, config: ClientConfig, api: EnvoyApi): SideServer | undefined {
  const { lrsServer } = { ...(cluster.json as { readonly lrsServer?: unknown }) };
  if (lrsServer === undefined || lrsServer === null) return undefined;
  const self = sourceOf(config, "cds", cluster.name);
  const { resolved, problems } = resolveConfigSource(lrsServer, { api, config, self });
  const source = resolved?.source;
  const server = source?.kind === "grpc" ? bestServerOf(source) : undefined;
  if (server !== undefined) return server;
  const why = problems.find(({ severity }) => severity === "error")?.message ?? `expected gRPC, got ${source?.kind}`;
  throw new XdsClientError("CONFIG_INVALID", `lrs_server of ${cluster.key}: ${why}`, { problems });
}
