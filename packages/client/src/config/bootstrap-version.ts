import type { ApiVersion } from "@xdskit/protocol";
import { isObject } from "@xdskit/protocol/internal";

/** Evidence for the API version of a bootstrap. */
interface Signs {
  v2: boolean;
  v3: boolean;
}

/** Cluster fields that v3 removed. */
const clusterFieldsOfV2: readonly string[] = ["hosts", "tls_context"];
/** Fields that v3 deprecates but accepts. */
const fieldsOfV2: ReadonlySet<string> = new Set(["http2_protocol_options", "access_log_path", "build_version"]);
const fieldsOfV3: ReadonlySet<string> = new Set([
  "typed_extension_protocol_options",
  "path_config_source",
  "config_sources",
  "default_config_source",
  "node_context_params",
]);

/**
 * The API version of an Envoy bootstrap, which no field states. Constructs that only one version has decide, then those
 * that one version prefers. Undefined without evidence.
 */
export function versionOfBootstrap(value: unknown): ApiVersion | undefined {
  if (clustersOf(value).some(isClusterOfV2)) return "v2";
  const signs: Signs = { v2: false, v3: false };
  look(value, signs);
  if (signs.v3) return "v3";
  return signs.v2 ? "v2" : undefined;
}

/** Treats `typedConfig` and `typed_config` as one name. */
export function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function clustersOf(value: unknown): readonly unknown[] {
  const resources = isObject(value) ? (value["static_resources"] ?? value["staticResources"]) : undefined;
  const clusters = isObject(resources) ? resources["clusters"] : undefined;
  return Array.isArray(clusters) ? clusters : [clusters];
}

function isClusterOfV2(cluster: unknown): boolean {
  return isObject(cluster) && Object.keys(cluster).some((key) => clusterFieldsOfV2.includes(snakeCase(key)));
}

function look(value: unknown, signs: Signs): void {
  if (Array.isArray(value)) {
    for (const item of value) look(item, signs);
    return;
  }
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    // Metadata of a node is free-form.
    if (key === "metadata") continue;
    lookAtField(snakeCase(key), inner, signs);
    look(inner, signs);
  }
}

function lookAtField(field: string, value: unknown, signs: Signs): void {
  if (fieldsOfV2.has(field)) signs.v2 = true;
  if (fieldsOfV3.has(field)) signs.v3 = true;
  if (field === "@type" && typeof value === "string") {
    if (/\.v3\./.test(value)) signs.v3 = true;
    else if (/\.v2\./.test(value)) signs.v2 = true;
  }
  if (field.endsWith("_api_version")) {
    if (value === "V3" || value === 2) signs.v3 = true;
    if (value === "V2" || value === 1) signs.v2 = true;
  }
}
