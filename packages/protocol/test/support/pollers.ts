import type { TypeUrl } from "@xdskit/protocol";
import { CurrentViews } from "../../src/server/cache/current-view.ts";
import { SharedResponses } from "../../src/server/cache/shared-responses.ts";
import { PolledSubscription } from "../../src/server/poll/polled-subscription.ts";
import { Poller } from "../../src/server/poll/poller.ts";
import { Subscription } from "../../src/server/subscription/subscription.ts";
import { node } from "./conversation.ts";
import { cluster, viewOf, WrittenLayer } from "./layers.ts";
import { CLUSTER, digest, traits } from "./resources.ts";

/** Clusters that are polled, and what pollers of them are given. */
export class PolledState {
  readonly base: WrittenLayer;
  readonly responses: SharedResponses = new SharedResponses(digest);
  readonly #current: CurrentViews = new CurrentViews(this.responses);

  constructor(...names: readonly string[]) {
    this.base = new WrittenLayer(
      "base",
      names.map((name) => cluster(name, "1")),
    );
    this.responses.advance(1, undefined);
  }

  /** A poll for these names, or for all. */
  polled(names: readonly string[] = [], type: TypeUrl = CLUSTER): PolledSubscription {
    const known = traits(type);
    if (known === undefined) throw new Error(`no traits of ${type}`);
    const subscription = new Subscription({ legacyWildcard: true, wildcardSticky: false });
    subscription.replace(names);
    const current = this.#current.of(viewOf(this.base));
    return new PolledSubscription({
      key: names.join(),
      current,
      traits: known,
      subscription,
      resourceErrors: "off",
      digest,
    });
  }

  put(revision: number, ...names: readonly string[]): void {
    this.base.put(revision, ...names.map((name) => cluster(name, String(revision))));
    this.responses.advance(revision, undefined);
  }

  delete(revision: number, ...names: readonly string[]): void {
    this.base.delete(revision, ...names);
    this.responses.advance(revision, undefined);
  }
}

/** What is polled for these names, where nothing has any of them. */
export function polledNames(...names: readonly string[]): PolledSubscription {
  return new PolledState().polled(names);
}

/** A poller with that id, whose key is `key`. */
export function pollerOf(id: number, key: string, polled: PolledSubscription, nodeId = key): Poller {
  return new Poller(id, key, {
    peer: { address: "10.0.0.1:1", isLoopback: false, isTls: true, names: [] },
    node: node(nodeId),
    apiVersion: "v3",
    choices: {},
    polled,
  });
}

/** Pollers for all Clusters, of which there are none, with these keys and ids from 1001 on. */
export function pollers(...keys: readonly string[]): readonly [Poller, Poller, Poller, Poller] {
  const polled = polledNames();
  const [a, b, c, d] = [0, 1, 2, 3].map((i) => pollerOf(1001 + i, keys[i] ?? `${i}`, polled));
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error("no pollers");
  return [a, b, c, d];
}
