import { beforeEach, describe, expect, test } from "vitest";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ROUTE, resource } from "../../../test/support/resources.ts";
import { answer, typeStream } from "../../../test/support/type-streams.ts";
import type { Resource } from "../../resource/resource.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import type { PendingResource } from "../cache/shared-selections.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { PinnedTargets, type TargetJudge } from "./pinned-targets.ts";

/** A route that uses these Clusters. */
const route = (name: string, label: string, ...clusters: readonly string[]): Resource =>
  resource(ROUTE, name, label, { references: clusters.map((one) => ({ type: CLUSTER, name: one })) });

/** The routes of one client, which wait one by one or as a whole. */
class Waiting {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest);
  readonly currents = new CurrentViews(this.responses);
  current: CurrentView = this.currents.of(viewOf(this.base));
  readonly user: TypeStream = typeStream(ROUTE, ["a", "b", "c"]);
  readonly targets = new PinnedTargets();
  /** Labels of the targets that have to wait, and of those that lead nowhere. */
  readonly unready = new Set<string>();
  readonly nowhere = new Set<string>();
  /** What had no resource when a target was pinned, of the last one that was judged. */
  dangling: readonly string[] = [];
  replaces: PendingResource["replaces"];

  get #judge(): TargetJudge {
    const label = ({ resource: { bytes } }: PendingResource): string => new TextDecoder().decode(bytes).slice(2);
    return {
      current: this.current,
      waits: (target) => this.unready.has(label(target)),
      leadsNowhere: (target, dangling) => {
        this.dangling = [...dangling];
        return this.nowhere.has(label(target));
      },
    };
  }

  /** The targets of routes that wait one by one at this revision, as label and revision. */
  each(revision: number, ...routes: readonly Resource[]): unknown {
    this.responses.advance(revision, undefined);
    return this.#shown(this.targets.ofEach(this.user, this.#pending(routes), this.#judge));
  }

  /** The same for routes that are sent as a whole, beside others that need not wait. */
  whole(revision: number, routes: readonly Resource[], others: readonly Resource[] = []): unknown {
    this.responses.advance(revision, undefined);
    const [waiting, all] = [this.#pending(routes), this.#pending([...routes, ...others])];
    return this.#shown(this.targets.ofWhole(this.user, waiting, all.values(), this.#judge));
  }

  /** Whether an answer is in flight. */
  block(nonce: number): void {
    this.user.deliveries.open(answer(ROUTE, nonce, []));
  }

  #pending(routes: readonly Resource[]): ReadonlyMap<string, PendingResource> {
    return new Map(routes.map((one) => [one.name, { resource: one, replaces: this.replaces }]));
  }

  #shown(found: ReturnType<PinnedTargets["ofWhole"]>): unknown {
    const text = new TextDecoder();
    return (
      found &&
      [...found].map(([name, target]) => (target ? `${text.decode(target.resource.bytes)}@${target.revision}` : name))
    );
  }
}

let waiting: Waiting;

beforeEach(() => {
  waiting = new Waiting();
});

describe("S-ORD-06: the target of a route that waits", () => {
  test("is its state when the wait began, sent once that need not wait; then the one after it", () => {
    const { targets } = waiting;
    const [first, third] = [route("a", "1"), route("a", "3")];
    expect([targets.isEmpty, waiting.each(1, first), targets.isEmpty]).toEqual([true, ["a"], false]);
    expect(waiting.each(2, first, route("b", "1"))).toEqual(["a", "b"]);
    waiting.unready.add("1");
    expect(waiting.each(3, route("a", "2"))).toEqual(["a"]);
    waiting.unready.delete("1");
    expect(waiting.each(4, third)).toEqual(["a=1@1"]);
    expect([waiting.each(5, third), waiting.each(6, route("a", "4"))]).toEqual([["a"], ["a=3@4"]]);
  });

  test("is not sent while an answer is in flight, and does not change meanwhile", () => {
    const first = route("a", "1");
    waiting.each(1, first);
    waiting.block(1);
    expect(waiting.each(2, route("a", "2"))).toEqual(["a"]);
    waiting.user.deliveries.ack("1");
    expect(waiting.each(3, route("a", "3"))).toEqual(["a=1@1"]);
  });

  test("is the newest state if what it needs is gone, or the client does not subscribe to it; it waits as long", () => {
    const { targets, user } = waiting;
    const only = (name: string): unknown => {
      waiting.each(1, route(name, "1"));
      waiting.nowhere.add("1");
      const at2 = waiting.each(2, route(name, "2"));
      const waited = targets.waitingSince(user, 1);
      waiting.nowhere.clear();
      return [at2, waited, waiting.each(3, route(name, "3"))];
    };
    expect(only("a")).toEqual([["a"], new Set("a"), ["a=2@2"]]);
    targets.forget(user);
    expect([targets.isEmpty, targets.waitingSince(user, 9)]).toEqual([true, undefined]);
    waiting.each(1, route("x", "1"));
    expect([waiting.each(2, route("x", "2")), waiting.each(3, route("x", "3"))]).toEqual([["x"], ["x"]]);
  });

  test("is judged with what was missing from the beginning", () => {
    waiting.base.put(1, resource(CLUSTER, "c", "1"));
    waiting.each(1, route("a", "1", "c", "gone"));
    waiting.base.put(2, resource(CLUSTER, "gone", "1"));
    waiting.each(2, route("a", "2", "c", "gone"));
    expect(waiting.dangling).toEqual([`${CLUSTER} gone`]);
  });

  test("is replaced by a state that does without what it waits for, three times", () => {
    waiting.unready.add("1");
    waiting.each(1, route("a", "1", "x"));
    // The newer one still uses it.
    waiting.each(2, route("a", "2", "x", "y"));
    waiting.unready.clear();
    expect(waiting.each(3, route("a", "3", "x"))).toEqual(["a=1@1"]);
    for (const revision of [4, 5, 6]) {
      const label = String(revision);
      expect(waiting.each(revision, route("a", label, label))).toEqual(["a"]);
    }
    expect(waiting.each(7, route("a", "7", "7"))).toEqual(["a=6@6"]);
  });

  test("is not replaced for what the client uses already, nor by the state that it was compared with before", () => {
    waiting.replaces = route("a", "0", "x");
    waiting.each(1, route("a", "1", "x"));
    expect(waiting.each(2, route("a", "2"))).toEqual(["a=1@1"]);
    const other = new Waiting();
    const newer = route("a", "2");
    other.each(1, route("a", "1", "x"));
    other.each(2, newer);
    expect([other.each(3, newer), other.each(4, route("a", "4"))]).toEqual([["a"], ["a=2@2"]]);
  });

  test("is forgotten when it waits no more, and when the node has moved", () => {
    const { targets, user } = waiting;
    const b = route("b", "1");
    waiting.each(1, route("a", "1"), b);
    expect([targets.waitingSince(user, 0), targets.waitingSince(user, 1)]).toEqual([undefined, new Set("ab")]);
    waiting.each(2, b, route("c", "1"));
    expect([targets.waitingSince(user, 1), targets.waitingSince(user, 2)]).toEqual([new Set("b"), new Set("bc")]);
    waiting.current = waiting.currents.of(viewOf(new WrittenLayer("top"), waiting.base));
    expect([waiting.each(3, route("b", "2")), targets.waitingSince(user, 2)]).toEqual([["b"], undefined]);
  });
});

describe("S-ORD-06: the targets of a type that is sent as a whole", () => {
  test("are sent together once none that waited from the beginning has to; what came later is left out", () => {
    const { targets } = waiting;
    expect(waiting.whole(1, [route("a", "1")], [route("b", "1")])).toBe(undefined);
    waiting.unready.add("1");
    expect(waiting.whole(2, [route("a", "2"), route("b", "2")])).toBe(undefined);
    waiting.unready.clear();
    expect(waiting.whole(3, [route("a", "3"), route("b", "3"), route("c", "3")])).toEqual(["a=1@1", "b=1@1", "c"]);
    expect(targets.isEmpty).toBe(true);
  });

  test("wait for an answer that is in flight, and begin anew when the node has moved", () => {
    waiting.whole(1, [route("a", "1")]);
    waiting.block(1);
    expect([waiting.whole(2, [route("a", "2")]), waiting.targets.isEmpty]).toEqual([undefined, false]);
    waiting.user.deliveries.ack("1");
    waiting.current = waiting.currents.of(viewOf(new WrittenLayer("top"), waiting.base));
    expect(waiting.whole(3, [route("a", "3")])).toBe(undefined);
    expect(waiting.whole(4, [route("a", "4")])).toEqual(["a=3@3"]);
  });
});
