import type { Node } from "../node/node.ts";
import type { ApiVersion } from "../resource/api-version.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import { isOfV2 } from "../resource/type-url.ts";
import { type Dialect, forKind, type PerKind, type TtlRule, type TtlStream } from "./dialect.ts";

/** The client feature that advertises TTL support. */
const KNOWS_TTLS = "xds.config.supports-resource-ttl";
/**
 * The client features that advertise `Resource` wrappers in State of the World: the registered spelling and the
 * protocol page's.
 */
const UNWRAPS: readonly string[] = ["xds.config.resource-in-sotw", "xds.config.supports-resource-in-sotw"];

/** Whether a client gets the TTLs of a type, or why not. */
export type TtlVerdict =
  | "told"
  /** The client does not advertise TTL support (S-TTL-01) or, in State of the World, wrapper support (S-TTL-02). */
  | "not-announced"
  /** An expired resource would break the client, or no heartbeat could keep one alive. */
  | "unsafe"
  /** The stream or the type is of v2, whose messages have no field for a TTL (B-TTL-18). */
  | "v2";

/** Returns the kind of stream for TTL rules. */
export function ttlStreamOf(variant: "sotw" | "delta", isAggregated: boolean): TtlStream {
  if (variant === "delta") return "delta";
  return isAggregated ? "aggregated-sotw" : "sotw";
}

/**
 * Decides whether a client gets the TTLs of a type on a stream of an API version.
 *
 * @spec S-TTL-01, S-TTL-02, B-TTL-17, B-TTL-18
 */
export function judgeTtl(
  dialect: Dialect,
  node: Node,
  { type, kind }: Pick<TypeTraits, "type" | "kind">,
  stream: TtlStream,
  apiVersion: ApiVersion,
): TtlVerdict {
  if (apiVersion === "v2" || isOfV2(type)) return "v2";
  const rule = forKind(rulesFor(stream, dialect), kind);
  if (rule === "never") return "unsafe";
  return rule === "always" || dialect.ttlWithoutFeature || announces(node, stream) ? "told" : "not-announced";
}

function rulesFor(stream: TtlStream, { ttlDelta, ttlSotw, ttlAggregatedSotw }: Dialect): PerKind<TtlRule> {
  return { delta: ttlDelta, sotw: ttlSotw, "aggregated-sotw": ttlAggregatedSotw }[stream];
}

function announces({ clientFeatures }: Node, stream: TtlStream): boolean {
  if (!clientFeatures.includes(KNOWS_TTLS)) return false;
  return stream === "delta" || UNWRAPS.some((feature) => clientFeatures.includes(feature));
}
