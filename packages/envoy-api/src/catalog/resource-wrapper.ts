import type { Message } from "@bufbuild/protobuf";
import { type Constraints, formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { TTL_LIMIT_MS } from "@xdskit/protocol/internal";
import type {
  DynamicParameterConstraints,
  Resource,
} from "../../gen/types/envoy/service/discovery/v3/discovery_pb.d.ts";
import type { AnyContent } from "../format/content.ts";
import type { ProblemList } from "../format/problem-list.ts";
import { resolveJsonPath } from "./json-path.ts";

/** The fields of `envoy.service.discovery.v3.Resource` around a resource. */
export interface ResourceWrapper {
  readonly name?: string;
  /** Which clients it is for, among several resources of the name (S-LOC-03). */
  readonly constraints?: Constraints;
  readonly aliases?: readonly string[];
  readonly ttlMs?: number;
  readonly doNotCache?: boolean;
  /** An encoded `envoy.config.core.v3.Metadata`. */
  readonly metadata?: Uint8Array;
}

const WRAPPERS: ReadonlySet<TypeUrl> = new Set([
  formatTypeUrl("envoy.service.discovery.v3.Resource"),
  formatTypeUrl("envoy.api.v2.Resource"), // the same fields under the same numbers, as far as it has them
]);

/** Below it, an ordinary delay exceeds the time from two heartbeats to the expiry. */
const SHORT_TTL_MS = 1_000;

export function isWrapperType(type: TypeUrl): boolean {
  return WRAPPERS.has(type);
}

/**
 * Unwraps a resource. Drops the wrapper's version: a resource's version comes from its content, otherwise a change
 * under an old version would go unnoticed.
 */
export function unwrapResource(
  content: Message,
  problems: ProblemList,
  { json, encodeMetadata }: { readonly json: unknown; readonly encodeMetadata: (metadata: Message) => Uint8Array },
): { readonly any: AnyContent | undefined; readonly wrapper: ResourceWrapper } {
  const { resource, name, resourceName, aliases, ttl, cacheControl, metadata } = content as Resource;
  const givenName = name || resourceName?.name;
  const ttlMs = ttl === undefined ? undefined : Number(ttl.seconds) * 1000 + ttl.nanos / 1e6;
  const constraints = constraintsIn(resourceName?.dynamicParameterConstraints, json, problems);
  checkTtl({ ...(ttlMs !== undefined && { ttlMs }) }, problems);
  return {
    any: resource as AnyContent | undefined,
    wrapper: {
      ...(givenName && { name: givenName }),
      ...(constraints !== undefined && { constraints }),
      ...(aliases.length > 0 && { aliases }),
      ...(ttlMs !== undefined && { ttlMs }),
      ...(cacheControl?.doNotCache && { doNotCache: true }),
      ...(metadata !== undefined && { metadata: encodeMetadata(metadata) }),
    },
  };
}

/** Converts constraints; reports one that names a parameter without a condition. */
function constraintsIn(
  content: DynamicParameterConstraints | undefined,
  json: unknown,
  problems: ProblemList,
): Constraints | undefined {
  if (content === undefined) return undefined;
  const path = resolveJsonPath(json, ["resource_name", "dynamic_parameter_constraints"]);
  problems.path.push(...path);
  const constraints = constraintsOf(content, problems);
  problems.path.length -= path.length;
  return constraints;
}

function constraintsOf({ type }: DynamicParameterConstraints, problems: ProblemList): Constraints {
  switch (type.case) {
    case "constraint": {
      const { key, constraintType } = type.value;
      if (constraintType.case === "value") return { kind: "value", key, value: constraintType.value };
      if (constraintType.case === undefined) {
        const message = `expected a value of ${JSON.stringify(key)} or that it exists, got neither`;
        problems.error("CONSTRAINT_INCOMPLETE", message, 'add "value: …" or "exists: {}"');
      }
      return { kind: "exists", key };
    }
    case "notConstraints":
      return { kind: "not", of: constraintsOf(type.value, problems) };
    case "orConstraints":
      return { kind: "any", of: type.value.constraints.map((one) => constraintsOf(one, problems)) };
    case "andConstraints":
      return { kind: "all", of: type.value.constraints.map((one) => constraintsOf(one, problems)) };
    default:
      return { kind: "all", of: [] };
  }
}

/** Checks that a TTL is valid (B-TTL-19) and long enough for three heartbeats before it expires. */
export function checkTtl({ ttlMs }: ResourceWrapper, problems: ProblemList): void {
  if (ttlMs === undefined || (ttlMs >= SHORT_TTL_MS && ttlMs < TTL_LIMIT_MS)) return;
  problems.path.push("ttl");
  const leaveOut = "leave it out for a resource that does not expire";
  if (ttlMs >= TTL_LIMIT_MS) {
    problems.error("DURATION_INVALID", "expected a ttl of at most 10000 years, got a longer one", leaveOut);
  } else if (ttlMs > 0) {
    const message = `expected a ttl of ${SHORT_TTL_MS / 1000}s or more, got ${ttlMs / 1000}s: a pause on the way lets it expire`;
    problems.warning("TTL_SHORT", message);
  } else {
    problems.error("DURATION_INVALID", `expected a ttl of more than 0, got ${ttlMs / 1000}s`, leaveOut);
  }
  problems.path.pop();
}
