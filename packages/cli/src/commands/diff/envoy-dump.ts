import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";

/** A resource that Envoy was given by a server. */
export interface EnvoyResource {
  readonly type: TypeUrl;
  readonly name: string;
  /** The version of the resource in delta, of the response in State of the World; "" where Envoy does not say. */
  readonly version: string;
  /** As Envoy prints it, with `@type`. */
  readonly value: unknown;
}

type Json = Readonly<Record<string, unknown>>;

/** Where `/config_dump` has dynamic resources: the lists, and the member of their entries that is the resource. */
const PLACES = [
  { shortName: "lds", lists: ["dynamic_listeners"], states: ["active_state", "warming_state"], member: "listener" },
  { shortName: "cds", lists: ["dynamic_active_clusters", "dynamic_warming_clusters"], member: "cluster" },
  { shortName: "rds", lists: ["dynamic_route_configs"], member: "route_config" },
  { shortName: "eds", lists: ["dynamic_endpoint_configs"], member: "endpoint_config" },
  { shortName: "sds", lists: ["dynamic_active_secrets", "dynamic_warming_secrets"], member: "secret" },
] as const;

/** The short names of the types that `/config_dump?include_eds` shows. */
export const shownTypes: ReadonlySet<string> = new Set(PLACES.map(({ shortName }) => shortName));

/** The dynamic resources in the answer of `/config_dump?include_eds`; undefined if it is none. */
export function readConfigDump(dump: unknown, api: EnvoyApi): readonly EnvoyResource[] | undefined {
  const configs = listIn(dump, "configs");
  if (configs === undefined) return undefined;
  const found: EnvoyResource[] = [];
  for (const { shortName, lists, member, ...more } of PLACES) {
    const type = api.typeNamed(shortName);
    if (type === undefined) continue;
    const states: readonly string[] = "states" in more ? more.states : [];
    for (const config of configs)
      for (const list of lists)
        for (const entry of listIn(config, list) ?? []) {
          const held = states.length === 0 ? entry : states.map((state) => entry[state]).find(isObject);
          const value = held?.[member];
          if (held !== undefined && isObject(value))
            found.push({ type, name: nameOf(value, entry), version: textIn(held, "version_info"), value });
        }
  }
  return withoutOwnEndpoints(found, api);
}

/** Without the endpoints that stand in a Cluster itself, which Envoy lists like those that it was given. */
function withoutOwnEndpoints(found: readonly EnvoyResource[], api: EnvoyApi): readonly EnvoyResource[] {
  const cds = api.typeNamed("cds");
  const eds = api.typeNamed("eds");
  const discovered = new Set(
    found.flatMap(({ type, name, value }) => {
      if (type !== cds || !isObject(value) || value["type"] !== "EDS") return [];
      const { service_name: service } = isObject(value["eds_cluster_config"]) ? value["eds_cluster_config"] : {};
      return [typeof service === "string" && service !== "" ? service : name];
    }),
  );
  return found.filter(({ type, name }) => type !== eds || discovered.has(name));
}

function nameOf(value: Json, entry: Json): string {
  return textIn(value, "name") || textIn(value, "cluster_name") || textIn(entry, "name");
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
