import type { Dialect } from "../../dialect/dialect.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Digest } from "../../resource/version.ts";
import type { LayerSet } from "../../state/layer-set.ts";
import type { View } from "../../state/view.ts";
import type { Placed } from "../admission.ts";
import type { CurrentViews } from "../cache/current-view.ts";
import { Subscription } from "../subscription/subscription.ts";
import { PolledSubscription } from "./polled-subscription.ts";

/** What a poll subscribes to; equal keys in one view share one polled subscription. */
export interface PollKey {
  readonly traits: TypeTraits;
  readonly names: readonly string[];
  readonly resourceErrors: Dialect["resourceErrors"];
}

/** A view with its polled subscriptions by type. */
export interface PolledView {
  readonly view: View;
  readonly topics: Map<TypeUrl, Map<string, PolledSubscription>>;
}

export interface PolledViewsOptions {
  readonly digest: Digest;
  readonly currentViews: CurrentViews;
  readonly layers: Pick<LayerSet<PolledView>, "viewOf" | "watch" | "unwatch">;
}

/** The polled subscriptions of all views. */
export class PolledViews {
  readonly #options: PolledViewsOptions;
  readonly #views = new Map<View, PolledView>();

  constructor(options: PolledViewsOptions) {
    this.#options = options;
  }

  /** The polled subscription for what a node sees and names; it is kept until `drop`. */
  topic(placed: Placed, { traits, names, resourceErrors }: PollKey): PolledSubscription {
    // A poll without names is a wildcard each time, because no request came before it (S-RST-14).
    const subscription = new Subscription({ legacyWildcard: true, wildcardSticky: false, terms: traits.terms });
    subscription.replace(names);
    return this.#find(placed, { traits, subscription, resourceErrors });
  }

  /** The polled subscription with the same names for a node that sees something else. */
  topicLike({ traits, subscription, resourceErrors }: PolledSubscription, placed: Placed): PolledSubscription {
    return this.#find(placed, { traits, subscription, resourceErrors });
  }

  drop(topic: PolledSubscription): void {
    const polled = this.#views.get(topic.current.view);
    const ofType = polled?.topics.get(topic.traits.type);
    ofType?.delete(topic.key);
    if (ofType?.size === 0) polled?.topics.delete(topic.traits.type);
    if (polled === undefined || polled.topics.size > 0) return;
    this.#views.delete(topic.current.view);
    this.#options.layers.unwatch(topic.current.view, polled);
  }

  /** The polled subscriptions of a view whose type changed since they were last evaluated. */
  *changed(view: View): Iterable<PolledSubscription> {
    for (const [type, topics] of this.#views.get(view)?.topics ?? []) {
      const changedAt = view.changedAt(type);
      for (const topic of topics.values()) if (!topic.isLookedAtAfter(changedAt)) yield topic;
    }
  }

  #find(
    { layers, grant }: Placed,
    { traits, subscription, resourceErrors }: Omit<PollKey, "names"> & { readonly subscription: Subscription },
  ): PolledSubscription {
    const { layers: all, digest, currentViews } = this.#options;
    const view = all.viewOf(layers, grant);
    const current = currentViews.of(view);
    let polled = this.#views.get(view);
    if (polled === undefined) {
      polled = { view, topics: new Map() };
      this.#views.set(view, polled);
      all.watch(view, polled);
    }
    const { key: set } = subscription.nameSet(current.shared.nameSets);
    const key = `${subscription.isWildcard ? "*" : ""} ${set} ${resourceErrors}`;
    const ofType = polled.topics.get(traits.type) ?? new Map<string, PolledSubscription>();
    polled.topics.set(traits.type, ofType);
    const known = ofType.get(key);
    if (known !== undefined) return known;
    const topic = new PolledSubscription({ key, current, traits, subscription, resourceErrors, digest });
    ofType.set(key, topic);
    return topic;
  }
}
