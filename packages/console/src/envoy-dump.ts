import type { NodeResourceAnswer } from "@xdskit/server";

type Json = Readonly<Record<string, unknown>>;

/** A resource that Envoy was given by a server. */
interface DumpedResource {
  readonly version: string;
  readonly value: Json;
}

/** What Envoy shows of a resource that the server says it has, or has of none. */
export interface DumpDifference {
  /** `differs`: it has other content. `missing`: it does not show it. `extra`: the server knows nothing of it. */
  readonly verdict: "differs" | "missing" | "extra";
  readonly shortName: string;
  readonly name: string;
  /** The first fields that differ. */
  readonly fields?: readonly string[];
}

export interface DumpComparison {
  readonly same: number;
  readonly differences: readonly DumpDifference[];
}

/** Where `/config_dump` has dynamic resources. */
const places = [
  { shortName: "lds", lists: ["dynamic_listeners"], states: ["active_state", "warming_state"], member: "listener" },
  { shortName: "cds", lists: ["dynamic_active_clusters", "dynamic_warming_clusters"], states: [], member: "cluster" },
  { shortName: "rds", lists: ["dynamic_route_configs"], states: [], member: "route_config" },
  { shortName: "eds", lists: ["dynamic_endpoint_configs"], states: [], member: "endpoint_config" },
] as const;

const MOST_FIELDS = 3;

/**
 * Compares the answer of Envoy's `/config_dump?include_eds` with what the server says that the node has. Secrets are left
 * out, since neither shows them. Undefined: it is no such answer.
 */
export function compareDump(dump: unknown, known: readonly NodeResourceAnswer[]): DumpComparison | undefined {
  const held = readDump(dump);
  if (held === undefined) return undefined;
  const differences: DumpDifference[] = [];
  let same = 0;
  for (const { shortName = "", name, status, version, body } of known) {
    if (!places.some((place) => place.shortName === shortName) || version === undefined) continue;
    const key = keyOf(shortName, name);
    const found = held.get(key);
    held.delete(key);
    if (found === undefined) {
      if (status === "acked") differences.push({ verdict: "missing", shortName, name });
      continue;
    }
    // State of the World versions are of whole responses, so the content decides.
    const fields = found.version === version ? [] : differingFields(shortName, body, found.value);
    if (fields.length === 0) same++;
    else differences.push({ verdict: "differs", shortName, name, fields: fields.slice(0, MOST_FIELDS) });
  }
  for (const key of held.keys()) {
    const [shortName = "", name = ""] = JSON.parse(key) as readonly string[];
    differences.push({ verdict: "extra", shortName, name });
  }
  return { same, differences };
}

function readDump(dump: unknown): Map<string, DumpedResource> | undefined {
  const configs = listIn(dump, "configs");
  if (configs === undefined) return undefined;
  const found = new Map<string, DumpedResource>();
  for (const { shortName, lists, states, member } of places)
    for (const config of configs)
      for (const list of lists)
        for (const entry of listIn(config, list) ?? []) {
          const held = states.length === 0 ? entry : states.map((state) => entry[state]).find(isObject);
          const value = held?.[member];
          if (held === undefined || !isObject(value)) continue;
          const name = textIn(value, "name") || textIn(value, "cluster_name") || textIn(entry, "name");
          found.set(keyOf(shortName, name), { version: textIn(held, "version_info"), value });
        }
  return withoutOwnEndpoints(found);
}

/** Without the endpoints that stand in a Cluster itself, which Envoy lists like those that it was given. */
function withoutOwnEndpoints(found: Map<string, DumpedResource>): Map<string, DumpedResource> {
  const discovered = new Set<string>();
  for (const [key, { value }] of found) {
    if (!key.startsWith('["cds"') || value["type"] !== "EDS") continue;
    const eds = value["eds_cluster_config"];
    discovered.add((isObject(eds) && textIn(eds, "service_name")) || textIn(value, "name"));
  }
  for (const key of [...found.keys()]) {
    const [shortName, name = ""] = JSON.parse(key) as readonly string[];
    if (shortName === "eds" && !discovered.has(name)) found.delete(key);
  }
  return found;
}

function differingFields(shortName: string, atServer: unknown, inEnvoy: unknown): readonly string[] {
  // Envoy prints endpoints with defaults filled in, so only their addresses compare.
  if (shortName !== "eds") return [...pathsBetween(atServer, inEnvoy, "")];
  return endpointsIn(atServer).join() === endpointsIn(inEnvoy).join() ? [] : ["endpoints"];
}

/** The paths of the values that are not the same. */
function* pathsBetween(a: unknown, b: unknown, path: string): Generator<string> {
  if (isObject(a) && isObject(b)) {
    for (const member of new Set([...Object.keys(a), ...Object.keys(b)]))
      if (member !== "@type") yield* pathsBetween(a[member], b[member], path === "" ? member : `${path}.${member}`);
  } else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    for (const [index, one] of a.entries()) yield* pathsBetween(one, b[index], `${path}[${index}]`);
  } else if (JSON.stringify(a) !== JSON.stringify(b)) yield path;
}

function endpointsIn(value: unknown): readonly string[] {
  return (listIn(value, "endpoints") ?? [])
    .flatMap((locality) => listIn(locality, "lb_endpoints") ?? [])
    .map(({ endpoint }) => {
      const address = isObject(endpoint) ? endpoint["address"] : undefined;
      const socket = isObject(address) ? address["socket_address"] : undefined;
      if (!isObject(socket)) return JSON.stringify(address) ?? "";
      return `${String(socket["address"])}:${String(socket["port_value"])}`;
    })
    .toSorted();
}

function keyOf(shortName: string, name: string): string {
  return JSON.stringify([shortName, name]);
}

function textIn(value: Json, member: string): string {
  const text = value[member];
  return typeof text === "string" ? text : "";
}

function listIn(value: unknown, member: string): readonly Json[] | undefined {
  const list = isObject(value) ? value[member] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
