import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { aName, isObject, rule } from "@xdskit/protocol/internal";
import { argumentCheck, problemsError } from "../argument.ts";
import type { ConfigProblem } from "../error.ts";

/**
 * A type of resource, with the type of its canonical JSON: one of the constructors of `@xdskit/envoy-api/resources`, or what `resourceType` returns. Of a source that speaks of resources in v2, its twin there is asked for; a
 * type URL in its place is asked for as it stands.
 */
export interface ResourceType<Json = unknown> {
  readonly typeUrl: TypeUrl;
  /** The shape of its JSON, for the compiler only. */
  readonly json?: Json;
}

/** A resource type with known JSON, or any type by its URL. */
export type TypeOrUrl<Json = unknown> = ResourceType<Json> | TypeUrl;

const aType = rule("a type such as Cluster, or its URL", (value) => {
  const url = typeof value === "function" || isObject(value) ? Reflect.get(value, "typeUrl") : value;
  return typeof url === "string" && url.includes("/");
});

/** The constructors of the types that are known by short names. */
const constructors: ReadonlyMap<unknown, string> = new Map([
  ["lds", "Listener"],
  ["rds", "RouteConfiguration"],
  ["cds", "Cluster"],
  ["eds", "ClusterLoadAssignment"],
  ["sds", "Secret"],
  ["rtds", "Runtime"],
  ["srds", "ScopedRouteConfiguration"],
  ["vhds", "VirtualHost"],
]);

function shortNameHint(type: unknown): Pick<ConfigProblem, "hint"> {
  const name = constructors.get(type);
  return name === undefined ? {} : { hint: `pass ${name} of @xdskit/envoy-api/resources` };
}

/**
 * The URL of a type.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID` if the argument is neither a type nor a type URL
 */
export function typeUrlOf(type: TypeOrUrl): TypeUrl {
  const problems = aType(type);
  if (problems.length > 0) {
    const hint = shortNameHint(type);
    throw problemsError(
      "ARGUMENT_INVALID",
      "type",
      problems.map((problem) => ({ ...problem, ...hint })),
    );
  }
  return typeof type === "string" ? type : type.typeUrl;
}

const checkResourceType = argumentCheck("resourceType", { messageName: aName });

/**
 * Makes a resource type from a message name, for types without a constant here, such as your own.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID` if it is no name
 */
export function resourceType<Json = unknown>(messageName: string): ResourceType<Json> {
  checkResourceType(messageName);
  return { typeUrl: formatTypeUrl(messageName) };
}
