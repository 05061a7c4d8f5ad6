import type { Resource, TypeUrl, Variant } from "@xdskit/protocol";
import type { TypeTraits } from "@xdskit/protocol/internal";
import { dialectFor } from "../../src/dialect/presets.ts";
import type { Delivery } from "../../src/server/ack/delivery.ts";
import { type CurrentView, CurrentViews } from "../../src/server/cache/current-view.ts";
import { everythingRemovable } from "../../src/server/cache/pending-removals.ts";
import { SharedResponses } from "../../src/server/cache/shared-responses.ts";
import type { OrderedStream } from "../../src/server/order/order-members.ts";
import { DeltaTypeStream } from "../../src/server/type/delta.ts";
import { type HeldBackNames, nothingHeldBack } from "../../src/server/type/held-back.ts";
import { SotwTypeStream } from "../../src/server/type/sotw.ts";
import type { PendingResponse, TypeStream, TypeStreamOptions } from "../../src/server/type/type-stream.ts";
import type { AbsenceBounds } from "../../src/server/type/untold-absences.ts";
import { delta, node, sotw } from "./conversation.ts";
import { viewOf, WrittenLayer } from "./layers.ts";
import { digest, resource, traits } from "./resources.ts";

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

/** A type on a stream before its first request. */
export function newTypeStream(type: TypeUrl, extra: Partial<TypeTraits> = {}, variant: Variant = "delta"): TypeStream {
  const known = traits(type);
  if (known === undefined) throw new Error(`no traits of ${type}`);
  const options: TypeStreamOptions = {
    traits: { ...known, ...extra },
    dialect: dialectFor(node("n")),
    isUnknown: false,
    isAggregated: true,
    ttl: "not-announced",
    cameAfterOwner: false,
  };
  return variant === "delta" ? new DeltaTypeStream(options) : new SotwTypeStream(options);
}

/** One type of a client that subscribes to some names, and the layer that it is served. */
export class TypeClient {
  readonly type: TypeStream;
  readonly current: CurrentView;
  readonly #base = new WrittenLayer("base");
  readonly #responses = new SharedResponses(digest);
  readonly #url: TypeUrl;
  readonly #variant: Variant;
  #names: readonly string[] = [];
  #revision = 0;
  #nonce = 0;

  constructor(variant: Variant, url: TypeUrl, ...names: readonly string[]) {
    this.current = new CurrentViews(this.#responses).of(viewOf(this.#base));
    this.type = newTypeStream(url, {}, variant);
    this.#variant = variant;
    this.#url = url;
    this.subscribe(...names);
  }

  /** A resource of the type. */
  one(name: string, label: string): Resource {
    return resource(this.#url, name, label);
  }

  /** Puts these at one revision, each a letter and a label: `a1`. */
  put(...texts: readonly string[]): void {
    this.putAll(...texts.map((text) => this.one(text.charAt(0), text.slice(1))));
  }

  putAll(...puts: readonly Resource[]): void {
    this.#base.put(++this.#revision, ...puts);
    this.#responses.advance(this.#revision, undefined);
  }

  delete(name: string): void {
    this.#base.tableFor(this.#url).delete(name, ++this.#revision);
    this.#responses.advance(this.#revision, undefined);
  }

  /** Subscribes to these names too; in State of the World the request lists them all. */
  subscribe(...names: readonly string[]): void {
    this.#names = [...new Set([...this.#names, ...names])];
    const nonce = this.#nonce === 0 ? undefined : String(this.#nonce);
    this.type.onRequest(
      this.#variant === "delta"
        ? delta(this.#url, { subscribe: names })
        : sotw(this.#url, { names: this.#names, nonce }),
    );
  }

  /** What is sent while these names are held back. */
  flush(heldBack: HeldBackNames = nothingHeldBack): readonly PendingResponse[] {
    const removable = () => everythingRemovable;
    const sent = this.type.next(this.current, { removable, heldBack, absences: toldAtOnce });
    for (const { body, isInOrder: isInTurn } of sent) {
      const { revision } = this.current;
      const from = this.type.position?.revision;
      this.type.deliveries.open({ nonce: String(++this.#nonce), body, revision, from, at: 1, isInTurn });
    }
    return sent;
  }

  /** ACKs the newest response. */
  ack(): this {
    const nonce = String(this.#nonce);
    this.type.onRequest(
      this.#variant === "delta" ? delta(this.#url, { nonce }) : sotw(this.#url, { nonce, names: this.#names }),
    );
    return this;
  }
}

/** Bounds under which every absence is told. */
export function toldAtOnce(): AbsenceBounds {
  return { to: Number.POSITIVE_INFINITY, overruledTo: -1, isUnmet: () => false, isAwaited: () => false };
}

/** A stream whose view holds these resources. */
export function streamWith(isAggregated: boolean, ...held: readonly Resource[]): OrderedStream {
  return {
    isAggregated,
    asksForAllClusters: true,
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
