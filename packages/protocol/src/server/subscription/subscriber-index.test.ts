import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { CLUSTER, ENDPOINTS, resource } from "../../../test/support/resources.ts";
import { tries } from "../../../test/support/script.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { LayerSet } from "../../state/layer-set.ts";
import type { View } from "../../state/view.ts";
import { ChangedNames } from "./changed-names.ts";
import { NameSets } from "./name-set.ts";
import { Names } from "./names.ts";
import { type SubscribedType, type Subscriber, SubscriberIndex } from "./subscriber-index.ts";
import { Subscription } from "./subscription.ts";

class OneAsker implements Subscriber {
  view: View;
  readonly subscribed: readonly SubscribedType[] = [CLUSTER, ENDPOINTS].map((type) => {
    return { traits: { type }, subscription: new Subscription({ legacyWildcard: true, wildcardSticky: false }) };
  });

  constructor(view: View) {
    this.view = view;
  }

  ask(type: TypeUrl, subscribe: readonly string[], unsubscribe: readonly string[] = []): void {
    this.subscriptionTo(type)?.update(subscribe, unsubscribe);
  }

  subscriptionTo(type: TypeUrl): Subscription | undefined {
    return this.subscribed.find(({ traits }) => traits.type === type)?.subscription;
  }
}

/** Two views that share a layer, and those who ask in them. */
class World {
  readonly layers: LayerSet<OneAsker> = new LayerSet({ keepsBodies: () => false }, { lines: 1_000, bytes: 1e9 });
  readonly views: readonly View[] = [this.layers.viewOf(["base"]), this.layers.viewOf(["own", "base"])];
  readonly askers = new SubscriberIndex<OneAsker>(new NameSets());
  #revision = 0;

  view(n: number): View {
    return this.views[n % 2] ?? this.layers.viewOf(["base"]);
  }

  open(n: number): OneAsker {
    const asker = new OneAsker(this.view(n));
    this.layers.watch(asker.view, asker);
    this.askers.unsettle(asker);
    return asker;
  }

  /** Who is concerned when these change, by view. */
  change(layer: string, type: TypeUrl, names: readonly string[]): ReadonlyMap<View, ReadonlySet<OneAsker>> {
    const revision = ++this.#revision;
    const puts = names.map((name) => resource(type, name, String(revision), { aliases: [`${name}!`] }));
    const { views } = this.layers.apply({ changes: [{ layer, puts }] }, revision) ?? { views: [] };
    const touched = new ChangedNames(revision);
    return new Map([...views].map((view) => [view, new Set(this.askers.concernedBy(view, touched))]));
  }
}

const NAMES = ["a", "b", "c", "d", "a!", "b!", "xdstp://x/T/*", "*"];
const number = fc.nat(63);

test("S-RES-03 exactly those are concerned who ask for what changed, and those who are unsettled", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(7), number, number, number), { maxLength: 200, size: "max" }), (steps) => {
      const world = new World();
      const open: OneAsker[] = [];
      const unsettled = new Set<OneAsker>();
      for (const [what, a, b, c] of steps) {
        const asker = open[a % Math.max(open.length, 1)];
        const type = b % 2 === 0 ? CLUSTER : ENDPOINTS;
        const names = NAMES.filter((_, i) => (c >> (i % 6)) % 2 === 1 && (i < 6 || (a + b) % 8 === i));
        if (what === 0 || asker === undefined) {
          const opened = world.open(a);
          open.push(opened);
          unsettled.add(opened);
        } else if (what <= 2) {
          asker.ask(type, names, what === 2 ? NAMES.slice(b % 4, (b % 4) + 2) : []);
          world.askers.unsettle(asker);
          unsettled.add(asker);
        } else if (what <= 4) {
          world.askers.settle(asker);
          unsettled.delete(asker);
        } else if (what === 5) {
          world.askers.forget(asker);
          open.splice(open.indexOf(asker), 1);
          unsettled.delete(asker);
        } else if (what === 6) {
          asker.view = world.view(b);
          world.layers.watch(asker.view, asker);
          world.askers.unsettle(asker);
          unsettled.add(asker);
        } else {
          const changed = ["a", "b", "c", "d"].filter((_, i) => (c >> i) % 2 === 1);
          const asks = ({ isWildcard, names: asked }: Subscription): boolean =>
            isWildcard || asked.hasCollections || changed.some((name) => asked.has(name) || asked.has(`${name}!`));
          for (const [view, concerned] of world.change(b % 3 === 0 ? "own" : "base", type, changed)) {
            const expected = open.filter((one) => {
              const subscription = one.subscriptionTo(type);
              return one.view === view && (unsettled.has(one) || (subscription !== undefined && asks(subscription)));
            });
            expect(concerned).toEqual(new Set(expected));
          }
        }
      }
    }),
    tries,
  );
});

describe("a change is compared with the names of those who ask for it", () => {
  /** How often a name is looked for in somebody's names when one name changes for the second time. */
  function looksAmong(others: number, namesEach: number): number {
    const world = new World();
    for (let i = 0; i < others + 3; i++) {
      const asker = world.open(0);
      asker.ask(ENDPOINTS, i < 3 ? ["mine"] : Array.from({ length: namesEach }, (_, j) => `${i}-${j}`));
      world.askers.settle(asker);
    }
    // What is asked for is indexed some at a time.
    for (let i = 0; i <= (others * namesEach) / 5_000; i++) world.change("base", ENDPOINTS, ["other"]);
    const looks = vi.spyOn(Names.prototype, "has");
    try {
      const [concerned] = [...world.change("base", ENDPOINTS, ["mine"]).values()];
      expect(concerned?.size).toBe(3);
      return looks.mock.calls.length;
    } finally {
      looks.mockRestore();
    }
  }

  test("and with nobody else's, however many they are and however much they ask for", () => {
    expect([looksAmong(20, 10), looksAmong(2_000, 10), looksAmong(20, 1_000)]).toEqual([0, 0, 0]);
  });

  test("and one by one with sets that the index has no room for, until others are gone", () => {
    const world = new World();
    const large = Array.from({ length: 20 }, (_, i) => {
      const asker = world.open(0);
      asker.ask(
        ENDPOINTS,
        Array.from({ length: 15_000 }, (_, j) => `${i}-${j}`),
      );
      world.askers.settle(asker);
      return asker;
    });
    const looks = vi.spyOn(Names.prototype, "has");
    try {
      const looked = (name: string): readonly number[] => {
        looks.mockClear();
        const [concerned] = [...world.change("base", ENDPOINTS, [name]).values()];
        return [concerned?.size ?? 0, looks.mock.calls.length];
      };
      for (let i = 0; i < 20; i++) looked("other");
      // Four sets of 20 are beyond 250,000 names.
      expect(looked("19-5")).toEqual([1, 7]);
      for (const asker of large.slice(0, 4)) world.askers.forget(asker);
      for (let i = 0; i < 10; i++) looked("other");
      expect(looked("19-6")).toEqual([1, 0]);
    } finally {
      looks.mockRestore();
    }
  });

  test("S-RES-03: and on its own with a large set to which a name was added just now", () => {
    const world = new World();
    const askers = Array.from({ length: 10 }, (_, i) => {
      const asker = world.open(0);
      asker.ask(
        ENDPOINTS,
        Array.from({ length: 3_000 }, (_, j) => `${i}-${j}`),
      );
      world.askers.settle(asker);
      return asker;
    });
    for (let i = 0; i < 10; i++) world.change("base", ENDPOINTS, ["other"]);
    const [first] = askers;
    first?.ask(ENDPOINTS, ["added"]);
    for (const asker of askers.slice(0, 1)) world.askers.settle(asker);
    const concerned = (name: string): unknown => [...world.change("base", ENDPOINTS, [name]).values()];
    expect(concerned("added")).toEqual([new Set([first])]);
    expect(concerned("0-7")).toEqual([new Set([first])]);
    expect(concerned("gone")).toEqual([new Set()]);
  });

  test("and one by one with everybody's where those are few: a name and its alias with each of two", () => {
    expect(looksAmong(2, 10)).toBe(4);
  });

  test("and with nobody's when those who ask for the same names as before settle again", () => {
    const world = new World();
    const askers = Array.from({ length: 10 }, (_, i) => {
      const asker = world.open(0);
      asker.ask(ENDPOINTS, [`${i}`, "mine"]);
      world.askers.settle(asker);
      return asker;
    });
    world.change("base", ENDPOINTS, ["other"]);
    for (const asker of askers) {
      world.askers.unsettle(asker);
      world.askers.settle(asker);
    }
    const compared = vi.spyOn(ChangedNames.prototype, "concern");
    try {
      expect([...world.change("base", ENDPOINTS, ["mine"]).values()]).toEqual([new Set(askers)]);
      expect(compared.mock.calls.length).toBe(0);
      const [first, ...others] = askers;
      first?.ask(ENDPOINTS, ["*"]);
      if (first !== undefined) world.askers.settle(first);
      expect([...world.change("base", ENDPOINTS, ["5"]).values()]).toEqual([new Set([first, others[4]])]);
      expect(compared.mock.calls.length).toBe(1);
    } finally {
      compared.mockRestore();
    }
  });
});
