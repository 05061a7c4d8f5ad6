/** The formats in which the bench writes a directory. */
export const directoryFormats = ["yaml-block", "yaml-flow", "json-pretty", "json-line"] as const;

/** One of `directoryFormats`. */
export type DirectoryFormat = (typeof directoryFormats)[number];

/** How the resources of a directory are written. */
export interface DirectoryShape {
  readonly format: DirectoryFormat;
  /** Each resource breaks one rule of its message. */
  readonly warns: boolean;
}

/** The extension of files in a format. */
export function extensionOf(format: DirectoryFormat): "yaml" | "json" {
  return format.startsWith("yaml") ? "yaml" : "json";
}

/**
 * The text of a file with the resources from `begin` to `end`: by turns a Cluster and its ClusterLoadAssignment. The
 * first Cluster of all has the given timeout, in milliseconds.
 */
export function directoryText(
  begin: number,
  end: number,
  { format, warns }: DirectoryShape,
  timeoutMs: number,
): string {
  const resources = Array.from({ length: end - begin }, (_, i) => resource(begin + i, warns, timeoutMs));
  switch (format) {
    case "yaml-block":
      return resources.map((one) => `- ${blockYaml(one, 2).trimStart()}`).join("");
    case "yaml-flow":
      return resources.map((one) => `- ${JSON.stringify(one).replaceAll('":', '": ')}\n`).join("");
    case "json-pretty":
      return JSON.stringify(resources, null, 2);
    case "json-line":
      return JSON.stringify(resources);
  }
}

function resource(i: number, warns: boolean, timeoutMs: number): object {
  const name = `cluster-${i - (i % 2)}`;
  if (i % 2 === 0) {
    return {
      "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      name,
      connect_timeout: `${(i === 0 ? timeoutMs : 250) / 1000}s`,
      type: "EDS",
      eds_cluster_config: { eds_config: { ads: {}, resource_api_version: "V3" } },
      ...(warns && { cleanup_interval: "0s" }),
    };
  }
  const address = { socket_address: { address: "10.0.0.1", port_value: 1_000 + (i % 5_000) } };
  return {
    "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
    cluster_name: name,
    endpoints: [{ lb_endpoints: [{ endpoint: { address }, ...(warns && { load_balancing_weight: 0 }) }] }],
  };
}

/** A mapping or list in block style, each line indented; empty mappings in flow style. */
function blockYaml(value: object, indent: number): string {
  const pad = " ".repeat(indent);
  if (Array.isArray(value))
    return value.map((one: object) => `${pad}- ${blockYaml(one, indent + 2).trimStart()}`).join("");
  const lines = Object.entries(value).map(([key, inner]: [string, unknown]) => {
    const shownKey = key.startsWith("@") ? JSON.stringify(key) : key;
    if (typeof inner !== "object" || inner === null) return `${pad}${shownKey}: ${String(inner)}\n`;
    if (Object.keys(inner).length === 0) return `${pad}${shownKey}: {}\n`;
    return `${pad}${shownKey}:\n${blockYaml(inner, indent + 2)}`;
  });
  return lines.join("");
}
