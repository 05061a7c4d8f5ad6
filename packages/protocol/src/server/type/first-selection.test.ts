import { beforeEach, describe, expect, test } from "vitest";
import { shown, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { digest, ENDPOINTS, resource } from "../../../test/support/resources.ts";
import { virtualHostTerms } from "../../resource/virtual-host-name.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { Subscription, type SubscriptionRules } from "../subscription/subscription.ts";
import { FirstSelection } from "./first-selection.ts";

const FIVE = ["a", "b", "c", "d", "none"];
const e = (name: string, label: string): ReturnType<typeof resource> => resource(ENDPOINTS, name, label);

/** Endpoints a to d at revision 1, of which a step finds two names. */
class World {
  readonly base = new WrittenLayer(
    "base",
    ["a", "b", "c", "d"].map((name) => e(name, "1")),
  );
  readonly responses = new SharedResponses(digest, { namesPerStep: 2 });
  readonly #currents = new CurrentViews(this.responses);
  readonly #view = viewOf(this.base);

  constructor() {
    this.responses.advance(1, undefined);
  }

  get current(): CurrentView {
    return this.#currents.of(this.#view);
  }

  /** The same layer in another view. */
  get elsewhere(): CurrentView {
    return this.#currents.of(viewOf(new WrittenLayer("top", [e("a", "top")]), this.base));
  }

  put(revision: number, name: string): void {
    this.base.put(revision, e(name, String(revision)));
    this.responses.advance(revision, undefined);
  }

  delete(revision: number, name: string): void {
    this.base.tableFor(ENDPOINTS).delete(name, revision);
    this.responses.advance(revision, undefined);
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

function subscribed(names: readonly string[], rules: Partial<SubscriptionRules> = {}): Subscription {
  const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false, ...rules });
  subscription.update(names, []);
  return subscription;
}

/** What was found in a step, in short, and whether it goes on. */
function find(first: FirstSelection, current: CurrentView = world.current): unknown {
  const found = first.find(current);
  if (found === undefined || found === "paused") return found;
  return { puts: found.puts.map(shown).sort(), removed: found.removed };
}

function selectionOf(...names: readonly string[]): FirstSelection {
  return new FirstSelection(ENDPOINTS, subscribed(names));
}

const all = { puts: ["a@1", "b@1", "c@1", "d@1"], removed: ["none"] };

describe("what a client with many names is first sent", () => {
  test("is found a few names at a time; the changes since the first of them are needed meanwhile", () => {
    const first = selectionOf(...FIVE);
    expect([first.isPaused, first.start]).toEqual([false, undefined]);
    const { view } = world.current;
    for (const _ of [1, 2]) {
      expect(find(first)).toBe("paused");
      expect([first.isPaused, first.start]).toEqual([true, { view, revision: 1 }]);
    }
    expect([find(first), first.isPaused, first.start]).toEqual([all, false, undefined]);
  });

  test("is found at once if the names are few, if they are not all, or if one may match several resources", () => {
    const rules = { terms: virtualHostTerms };
    const few = selectionOf("a", "b");
    const wildcard = selectionOf("*", ...FIVE);
    const collection = selectionOf("xdstp://x/t/d/*", ...FIVE);
    const hosts = new FirstSelection(ENDPOINTS, subscribed(FIVE, rules));
    const all = [few, wildcard, collection, hosts];
    expect(all.map((one) => [find(one), one.isPaused])).toEqual(all.map(() => [undefined, false]));
    expect(find(selectionOf("a", "b", "c"))).toBe("paused");
  });

  test("is that of the last step, whatever was committed since the first", () => {
    const first = selectionOf(...FIVE);
    find(first);
    world.put(2, "a");
    find(first);
    world.delete(3, "d");
    world.put(4, "none");
    expect(first.start?.revision).toBe(1);
    expect(find(first)).toEqual({ puts: ["a@2", "b@1", "c@1", "none@4"], removed: ["d"] });
  });

  test("is found at once if the names change meanwhile", () => {
    const subscription = subscribed(FIVE);
    const first = new FirstSelection(ENDPOINTS, subscription);
    find(first);
    subscription.update(["e"], []);
    expect([find(first), first.isPaused, first.start]).toEqual([undefined, false, undefined]);
  });

  test("is looked for from the beginning where the node moved, or where it was abandoned", () => {
    const first = selectionOf(...FIVE);
    for (const _ of [1, 2]) find(first);
    const { elsewhere } = world;
    expect([find(first, elsewhere), find(first, elsewhere)]).toEqual(["paused", "paused"]);
    expect(find(first, elsewhere)).toEqual({ ...all, puts: ["a@top", "b@1", "c@1", "d@1"] });
    const abandoned = selectionOf("a", "b", "c");
    find(abandoned);
    abandoned.abandon();
    expect([abandoned.isPaused, abandoned.start]).toEqual([false, undefined]);
  });

  test("is found once for all clients with the same names, at the same revision", () => {
    const [one, other, third] = [selectionOf(...FIVE), selectionOf(...FIVE), selectionOf(...FIVE)];
    const different = selectionOf(...FIVE.slice(1));
    expect([one, other, different].map((each) => find(each))).toEqual(["paused", "paused", "paused"]);
    expect([find(one), find(other)]).toEqual([all, all]);
    find(third);
    expect(third.isPaused).toBe(false);
  });

  test("is looked for again if another client found it at an earlier revision", () => {
    const [one, other] = [selectionOf(...FIVE), selectionOf(...FIVE)];
    for (const each of [one, other, one]) find(each);
    expect(one.isPaused).toBe(false);
    world.put(2, "a");
    expect([find(other), find(other)]).toEqual(["paused", "paused"]);
    expect(find(other)).toEqual({ ...all, puts: ["a@2", "b@1", "c@1", "d@1"] });
  });

  test("is not shared while it would cost more to compare the names than it saves", () => {
    const many = Array.from({ length: 600 }, (_, i) => `n${i}`);
    const grown = (): FirstSelection => {
      const subscription = subscribed(many);
      subscription.sharedKey(world.responses.nameSets);
      subscription.update(["a"], []);
      return new FirstSelection(ENDPOINTS, subscription);
    };
    const [one, other] = [grown(), grown()];
    find(one);
    find(other);
    expect([one.start === other.start, one.start]).toEqual([false, other.start]);
  });
});
