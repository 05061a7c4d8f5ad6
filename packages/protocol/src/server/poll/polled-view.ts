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
  readonly subscriptions: Map<TypeUrl, Map<string, PolledSubscription>>;
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
  polled(placed: Placed, { traits, names, resourceErrors }: PollKey): PolledSubscription {
    // A poll without names is a wildcard each time, because no request came before it (S-RST-14).
    const subscription = new Subscription({ legacyWildcard: true, wildcardSticky: false, terms: traits.terms });
    subscription.replace(names);
    return this.#find(placed, { traits, subscription, resourceErrors });
  }

  /** The polled subscription with the same names for a node that sees something else. */
  polledLike({ traits, subscription, resourceErrors }: PolledSubscription, placed: Placed): PolledSubscription {
    return this.#find(placed, { traits, subscription, resourceErrors });
  }

  drop(polled: PolledSubscription): void {
    const ofView = this.#views.get(polled.current.view);
    const ofType = ofView?.subscriptions.get(polled.traits.type);
    ofType?.delete(polled.key);
    if (ofType?.size === 0) ofView?.subscriptions.delete(polled.traits.type);
    if (ofView === undefined || ofView.subscriptions.size > 0) return;
    this.#views.delete(polled.current.view);
    this.#options.layers.unwatch(polled.current.view, ofView);
  }

  /** The polled subscriptions of a view whose type changed since they were last evaluated. */
  *changed(view: View): Iterable<PolledSubscription> {
    for (const [type, subscriptions] of this.#views.get(view)?.subscriptions ?? []) {
      const changedAt = view.changedAt(type);
      for (const polled of subscriptions.values()) if (!polled.isLookedAtAfter(changedAt)) yield polled;
    }
  }

  #find(
    { layers, grant }: Placed,
    { traits, subscription, resourceErrors }: Omit<PollKey, "names"> & { readonly subscription: Subscription },
  ): PolledSubscription {
    const { layers: all, digest, currentViews } = this.#options;
    const view = all.viewOf(layers, grant);
    const current = currentViews.of(view);
    let ofView = this.#views.get(view);
    if (ofView === undefined) {
      ofView = { view, subscriptions: new Map() };
      this.#views.set(view, ofView);
      all.watch(view, ofView);
    }
    const { key: set } = subscription.nameSet(current.shared.nameSets);
    const key = `${subscription.isWildcard ? "*" : ""} ${set} ${resourceErrors}`;
    const ofType = ofView.subscriptions.get(traits.type) ?? new Map<string, PolledSubscription>();
    ofView.subscriptions.set(traits.type, ofType);
    const known = ofType.get(key);
    if (known !== undefined) return known;
    const polled = new PolledSubscription({ key, current, traits, subscription, resourceErrors, digest });
    ofType.set(key, polled);
    return polled;
  }
}
