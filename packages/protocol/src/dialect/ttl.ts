import type { Node } from "../node/node.ts";
import type { ApiVersion } from "../resource/api-version.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import { isOfV2 } from "../resource/type-url.ts";
import { type Dialect, forKind, type PerKind, type TtlRule, type TtlStream } from "./dialect.ts";

/** The client knows ttls. */
const KNOWS_TTLS = "xds.config.supports-resource-ttl";
/** The client takes a `Resource` around a resource in State of the World: as it is registered, and as the protocol page spells it. */
const UNWRAPS: readonly string[] = ["xds.config.resource-in-sotw", "xds.config.supports-resource-in-sotw"];

/** Whether a client is told of the ttls of a type, or why not. */
export type TtlVerdict =
  | "told"
  /** It does not announce that it knows ttls (S-TTL-01), or, in State of the World, the message that carries them (S-TTL-02). */
  | "not-announced"
  /** An expired one would break it, or there is no way to keep one alive. */
  | "unsafe"
  /** The messages of v2 have no place for one: those of the stream, or of the type (B-TTL-18). */
  | "v2";

/** On which kind of stream a type is told. */
export function ttlStreamOf(variant: "sotw" | "delta", isAggregated: boolean): TtlStream {
  if (variant === "delta") return "delta";
  return isAggregated ? "aggregated-sotw" : "sotw";
}

/**
 * Whether a client is told of the ttls that resources of a type have, on a stream whose messages are of that version.
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
