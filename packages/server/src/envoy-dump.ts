// Pure, for the command and the console alike: nothing of the server is imported here.

/** A resource that Envoy was given by a server. */
export interface DumpedResource {
  readonly shortName: string;
  readonly name: string;
  /** The version of the resource in delta, of the response in State of the World; "" where Envoy does not say. */
  readonly version: string;
  /** As Envoy prints it, with `@type`. */
  readonly value: JsonObject;
}

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Where `/config_dump` has dynamic resources: the lists, and the member of their entries that is the resource. */
const PLACES = [
  { shortName: "lds", lists: ["dynamic_listeners"], states: ["active_state", "warming_state"], member: "listener" },
  { shortName: "cds", lists: ["dynamic_active_clusters", "dynamic_warming_clusters"], states: [], member: "cluster" },
  { shortName: "rds", lists: ["dynamic_route_configs"], states: [], member: "route_config" },
  { shortName: "eds", lists: ["dynamic_endpoint_configs"], states: [], member: "endpoint_config" },
  { shortName: "sds", lists: ["dynamic_active_secrets", "dynamic_warming_secrets"], states: [], member: "secret" },
] as const;

/** The short names of the types that `/config_dump?include_eds` shows. */
export const shownTypes: ReadonlySet<string> = new Set(PLACES.map(({ shortName }) => shortName));

/** The dynamic resources in the answer of Envoy's `/config_dump?include_eds`; undefined if it is none. */
export function readConfigDump(dump: unknown): readonly DumpedResource[] | undefined {
  const configs = listIn(dump, "configs");
  if (configs === undefined) return undefined;
  const found: DumpedResource[] = [];
  for (const { shortName, lists, states, member } of PLACES)
    for (const config of configs)
      for (const list of lists)
        for (const entry of listIn(config, list) ?? []) {
          const held = states.length === 0 ? entry : states.map((state) => entry[state]).find(isObject);
          const value = held?.[member];
          if (held !== undefined && isObject(value))
            found.push({ shortName, name: nameOf(value, entry), version: textIn(held, "version_info"), value });
        }
  return withoutOwnEndpoints(found);
}

/** Without the endpoints that stand in a Cluster itself, which Envoy lists like those that it was given. */
function withoutOwnEndpoints(found: readonly DumpedResource[]): readonly DumpedResource[] {
  const discovered = new Set(
    found.flatMap(({ shortName, name, value }) => {
      if (shortName !== "cds" || value["type"] !== "EDS") return [];
      const eds = value["eds_cluster_config"];
      return [(isObject(eds) && textIn(eds, "service_name")) || name];
    }),
  );
  return found.filter(({ shortName, name }) => shortName !== "eds" || discovered.has(name));
}

function nameOf(value: JsonObject, entry: JsonObject): string {
  return textIn(value, "name") || textIn(value, "cluster_name") || textIn(entry, "name");
}

function textIn(value: JsonObject, member: string): string {
  const text = value[member];
  return typeof text === "string" ? text : "";
}

function listIn(value: unknown, member: string): readonly JsonObject[] | undefined {
  const list = isObject(value) ? value[member] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : undefined;
}

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `address:port` of each endpoint, sorted: Envoy prints endpoints with defaults filled in, so only these compare. */
export function endpointsIn(value: unknown): readonly string[] {
  const found: string[] = [];
  for (const locality of listIn(value, "endpoints") ?? [])
    for (const endpoint of listIn(locality, "lb_endpoints") ?? [])
      found.push(addressIn(isObject(endpoint["endpoint"]) ? endpoint["endpoint"]["address"] : undefined));
  return found.sort();
}

function addressIn(address: unknown): string {
  const socket = isObject(address) ? address["socket_address"] : undefined;
  if (!isObject(socket)) return JSON.stringify(address) ?? "";
  return `${String(socket["address"])}:${String(socket["port_value"])}`;
}
