/** Every discovery method that a client may call, by path (requirements 1.1). */
import type { ApiVersion, TypeUrl } from "@xdskit/protocol";
import type { MethodSwitch } from "@xdskit/protocol/internal";
import type { DiscoveryCall } from "./discovery-service.ts";
import { catalog } from "./entries.ts";
import type { CatalogEntry } from "./entry.ts";

/** One method of a discovery service. */
export interface DiscoveryMethod {
  /** Such as `/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters`. */
  readonly path: string;
  readonly call: DiscoveryCall;
  /** The API version of its messages, whatever that of the types in them (B-TYP-08, S-TYP-09). */
  readonly apiVersion: ApiVersion;
  /** The type that the method serves; undefined on an aggregated stream. */
  readonly onlyType: TypeUrl | undefined;
  /** The dialect switch that enables the method; undefined if it is always served. */
  readonly needs?: MethodSwitch;
}

const aggregated = {
  services: { v3: "envoy.service.discovery.v3.Aggregated", v2: "envoy.service.discovery.v2.Aggregated" },
  noun: "AggregatedResources",
  calls: ["sotw", "delta"],
} as const;

const every: readonly DiscoveryCall[] = ["sotw", "delta", "fetch"];
const apiVersions: readonly ApiVersion[] = ["v3", "v2"];
const verbs: Readonly<Record<DiscoveryCall, string>> = { sotw: "Stream", delta: "Delta", fetch: "Fetch" };

/** Every discovery method (S-GRP-01, S-GRP-02), without load reporting, client status and health discovery. */
export const discoveryMethods: readonly DiscoveryMethod[] = apiVersions.flatMap((apiVersion) => [
  ...aggregated.calls.map((call) =>
    methodOf(call, aggregated.noun, { service: aggregated.services[apiVersion], apiVersion, onlyType: undefined }),
  ),
  ...catalog.flatMap((entry) => methodsOf(entry, apiVersion)),
  ...(apiVersion === "v2" ? incrementalMethods() : []),
]);

const methodByPath: ReadonlyMap<string, DiscoveryMethod> = new Map(
  discoveryMethods.map((method) => [method.path, method]),
);

/** Returns the method at a path, as in the `:path` of a gRPC call; undefined if there is none. */
export function findDiscoveryMethod(path: string): DiscoveryMethod | undefined {
  return methodByPath.get(path);
}

interface ServiceOfType extends Omit<DiscoveryMethod, "path" | "call"> {
  /** Full name, without `DiscoveryService` at the end. */
  readonly service: string;
}

function methodOf(call: DiscoveryCall, noun: string, { service, ...rest }: ServiceOfType): DiscoveryMethod {
  return { path: `/${service}DiscoveryService/${verbs[call]}${noun}`, call, ...rest };
}

function methodsOf({ type, v2Twin, discovery }: CatalogEntry, apiVersion: ApiVersion): readonly DiscoveryMethod[] {
  const service = discovery?.services[apiVersion];
  const onlyType = apiVersion === "v2" ? v2Twin : type;
  if (discovery === undefined || service === undefined || onlyType === undefined) return [];
  const { calls = every, noun, alias } = discovery;
  const methods = calls.map((call) => methodOf(call, noun, { service, apiVersion, onlyType }));
  if (alias === undefined) return methods;
  const aliased = service.replace(...alias);
  return [
    ...methods,
    ...calls.map((call) => methodOf(call, noun, { service: aliased, apiVersion, onlyType, needs: "docAliases" })),
  ];
}

/**
 * The delta methods of 2018, under their names of that time (B-DLT-18). Their messages have v2's field numbers; such a
 * client skips a response's type and a resource's name as unknown fields.
 */
function incrementalMethods(): readonly DiscoveryMethod[] {
  const method = (service: string, noun: string, onlyType: TypeUrl | undefined): DiscoveryMethod => ({
    path: `/${service}DiscoveryService/Incremental${noun}`,
    call: "delta",
    apiVersion: "v2",
    onlyType,
    needs: "incremental2018",
  });
  return [
    method(aggregated.services.v2, aggregated.noun, undefined),
    ...catalog.flatMap(({ v2Twin, discovery }) => {
      const service = discovery?.services.v2;
      if (discovery?.isIncremental2018 !== true || service === undefined) return [];
      return [method(service, discovery.noun, v2Twin)];
    }),
  ];
}
