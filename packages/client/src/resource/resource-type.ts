import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { isObject, rule } from "@xdskit/protocol/internal";
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

const messageName = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;
const aMessageName = rule(
  "the name of a message, such as acme.Widget",
  (value) => typeof value === "string" && messageName.test(value),
);

/** What to pass in place of a text that is no type URL. */
function hintFor(type: unknown): Pick<ConfigProblem, "hint"> {
  if (typeof type !== "string" || !messageName.test(type)) return {};
  const short = constructors.get(type);
  if (short !== undefined) return { hint: `pass ${short} of @xdskit/client` };
  const isKnown = [...constructors.values()].includes(type);
  return { hint: isKnown ? `pass ${type} of @xdskit/client itself, not its name` : `pass resourceType("${type}")` };
}

/**
 * The URL of a type.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID` if the argument is neither a type nor a type URL
 */
export function typeUrlOf(type: TypeOrUrl): TypeUrl {
  const problems = aType(type);
  if (problems.length > 0) {
    const hint = hintFor(type);
    throw problemsError(
      "ARGUMENT_INVALID",
      "type",
      problems.map((problem) => ({ ...problem, ...hint })),
    );
  }
  return typeof type === "string" ? type : type.typeUrl;
}

const checkResourceType = argumentCheck("resourceType", { messageName: aMessageName });

/**
 * Makes a resource type from a message name, for types without a constant here, such as your own.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID` if it is not the name of a message
 */
export function resourceType<Json = unknown>(messageName: string): ResourceType<Json> {
  checkResourceType(messageName);
  return { typeUrl: formatTypeUrl(messageName) };
}
