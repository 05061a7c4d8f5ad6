import type { Resource, TypeUrl } from "@xdskit/protocol";
import type { TypeTraits } from "@xdskit/protocol/internal";
import { dialectFor } from "../../src/dialect/presets.ts";
import type { Delivery } from "../../src/server/ack/delivery.ts";
import { CurrentViews } from "../../src/server/cache/current-view.ts";
import { SharedResponses } from "../../src/server/cache/shared-responses.ts";
import type { OrderedStream } from "../../src/server/order/order-members.ts";
import { DeltaTypeStream } from "../../src/server/type/delta.ts";
import type { TypeStream } from "../../src/server/type/type-stream.ts";
import { delta, node } from "./conversation.ts";
import { viewOf, WrittenLayer } from "./layers.ts";
import { digest, traits } from "./resources.ts";

/** A type on a delta stream that subscribes to these names; to everything, if there are none. */
export function typeStream(
  type: TypeUrl,
  subscribe: readonly string[] = [],
  extra: Partial<TypeTraits> = {},
): TypeStream {
  const stream = newTypeStream(type, extra);
  stream.onRequest(delta(type, { subscribe }));
  return stream;
}

/** A type on a delta stream before its first request. */
export function newTypeStream(type: TypeUrl, extra: Partial<TypeTraits> = {}): TypeStream {
  const known = traits(type);
  if (known === undefined) throw new Error(`no traits of ${type}`);
  return new DeltaTypeStream({
    traits: { ...known, ...extra },
    dialect: dialectFor(node("n")),
    isUnknown: false,
    isAggregated: true,
    ttl: "not-announced",
    cameAfterOwner: false,
  });
}

/** A stream whose view holds these resources. */
export function streamWith(isAggregated: boolean, ...held: readonly Resource[]): OrderedStream {
  return {
    isAggregated,
    current: new CurrentViews(new SharedResponses(digest)).of(viewOf(new WrittenLayer("base", held))),
  };
}

/** The answer with that number, which was sent at a revision of the same number. */
export function answer(
  type: TypeUrl,
  at: number,
  puts: readonly Resource[],
  what: { readonly removed?: readonly string[]; readonly variant?: "delta" | "sotw" } = {},
): Delivery {
  const { removed = [], variant = "delta" } = what;
  const body = { variant, type, version: String(at), segments: [{ puts, removed, missing: [] }] };
  return { nonce: String(at), body, revision: at, from: at - 1, at, isInTurn: true };
}
