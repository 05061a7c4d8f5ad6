import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { aName, argumentCheck, isObject, problemsError, rule } from "../argument.ts";

/**
 * A type of resource, with the type of its canonical JSON: one of the constructors of `@xdskit/envoy-api/resources`, or what `resourceType` returns. Of a source that speaks of resources in v2, its twin there is asked for; a
 * type URL in its place is asked for as it stands.
 */
export interface ResourceType<Json = unknown> {
  readonly typeUrl: TypeUrl;
  /** Only there for the compiler: what its JSON is like. */
  readonly json?: Json;
}

/** Of what JSON is known to the compiler, or any other type by its URL. */
export type TypeOrUrl<Json = unknown> = ResourceType<Json> | TypeUrl;

const aType = rule("a type such as Cluster, or its URL", (value) => {
  const url = typeof value === "function" || isObject(value) ? Reflect.get(value, "typeUrl") : value;
  return typeof url === "string" && url.includes("/");
});

/**
 * The URL of a type that is given either way.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID` if it is no type, or a text that is no URL, which no server would ever answer for
 */
export function typeUrlOf(type: TypeOrUrl): TypeUrl {
  const problems = aType(type);
  if (problems.length > 0) throw problemsError("ARGUMENT_INVALID", "type", problems);
  return typeof type === "string" ? type : type.typeUrl;
}

const checkResourceType = argumentCheck("resourceType", { messageName: aName });

/**
 * A type of resource that this library has no name for, such as one of your own.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID` if it is no name
 */
export function resourceType<Json = unknown>(messageName: string): ResourceType<Json> {
  checkResourceType(messageName);
  return { typeUrl: formatTypeUrl(messageName) };
}
