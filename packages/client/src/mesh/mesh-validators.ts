import type { EnvoyApi } from "@xdskit/envoy-api";
import { Cluster, Listener, ScopedRouteConfiguration, TypedExtensionConfig } from "@xdskit/envoy-api/resources";
import { sourceProblems } from "@xdskit/protocol/internal";
import type { ResourceValidator } from "../reading/validators.ts";
import type { Meshes } from "./meshes.ts";

/**
 * Rejects Listeners and Clusters that name a source other than `ads` or `self`, as gRPC clients do, which have one ADS
 * stream only (C-ADS-06).
 */
export function onlyAds(api: Pick<EnvoyApi, "dependencies" | "loadServer">): readonly ResourceValidator[] {
  return [Listener, Cluster, ScopedRouteConfiguration].map(({ typeUrl }) => ({
    type: typeUrl,
    check: ({ type, bytes }) => {
      const problems = sourceProblems({
        dependencies: api.dependencies(type, bytes),
        loadServer: api.loadServer(type, bytes),
      });
      return problems.length === 0 ? undefined : problems.join("; ");
    },
  }));
}

/** Rejects extension configs that do not fit where a mesh uses them (C-ECD-04). */
export function fittingExtensions(meshes: () => Pick<Meshes, "extensionProblem">): ResourceValidator {
  return {
    type: TypedExtensionConfig.typeUrl,
    check: ({ type, name, bytes }) => meshes().extensionProblem(type, name, bytes),
  };
}
