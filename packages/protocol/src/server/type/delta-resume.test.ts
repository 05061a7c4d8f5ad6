import { beforeEach, describe, expect, test } from "vitest";
import { shown, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { digest, ENDPOINTS, LB_ENDPOINT, ROUTE, resource, traits } from "../../../test/support/resources.ts";
import type { InitialVersions } from "../../message/request.ts";
import type { Resource } from "../../resource/resource.ts";
import { opaqueTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { Subscription } from "../subscription/subscription.ts";
import { DeltaResume } from "./delta-resume.ts";

const FIVE = ["a", "b", "c", "d", "e"];

/** Resources a to e of every type at revision 1, of which a step compares two. */
class World {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest, { namesPerStep: 2 });
  readonly #currents = new CurrentViews(this.responses);
  readonly #view = viewOf(this.base);

  constructor() {
    for (const type of [ROUTE, ENDPOINTS, LB_ENDPOINT]) this.put(1, ...FIVE.map((name) => resource(type, name, "1")));
  }

  get current(): CurrentView {
    return this.#currents.of(this.#view);
  }

  /** The same layer in another view. */
  get elsewhere(): CurrentView {
    return this.#currents.of(viewOf(new WrittenLayer("top", [resource(ROUTE, "a", "top")]), this.base));
  }

  put(revision: number, ...puts: readonly Resource[]): void {
    this.base.put(revision, ...puts);
    this.responses.advance(revision, undefined);
  }

  /** A client that comes back with these at label 1, and subscribes to names; to everything, if there are none. */
  comeBack({
    type = ROUTE,
    held = FIVE,
    names = ["*"],
    key,
    cameAfterOwner = false,
  }: {
    readonly type?: TypeUrl;
    readonly held?: readonly string[];
    readonly names?: readonly string[];
    readonly key?: string;
    readonly cameAfterOwner?: boolean;
  } = {}): DeltaResume {
    const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
    subscription.update(names, []);
    const resume = new DeltaResume(traits(type) ?? opaqueTraits(type), subscription, cameAfterOwner);
    const pairs = held.map((name) => [name, resource(type, name, "1").version] as const);
    const versions: InitialVersions = { size: pairs.length, key, [Symbol.iterator]: () => pairs.values() };
    resume.bring(versions);
    return resume;
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

/** What is sent after a step, and whether it goes on. */
function step(resume: DeltaResume, current: CurrentView = world.current): unknown {
  const found = resume.step(current);
  return found === undefined
    ? "paused"
    : [...[...found.puts].map(shown).sort(), ...found.missing.map((one) => `?${one}`)];
}

/** What is sent at last. */
function last(resume: DeltaResume, current: CurrentView = world.current): unknown {
  for (let i = 0; i < 9; i++) {
    const found = step(resume, current);
    if (found !== "paused") return found;
  }
  return "paused";
}

describe("S-REC-09: a client that comes back with versions", () => {
  test("is sent the difference, found a few names at a time", () => {
    const resume = world.comeBack();
    world.put(2, resource(ROUTE, "c", "2"));
    expect([resume.isOpen, resume.isPaused, resume.start]).toEqual([true, false, undefined]);
    const { view } = world.current;
    for (const _ of [1, 2]) {
      expect(step(resume)).toBe("paused");
      expect([resume.isOpen, resume.isPaused, resume.start]).toEqual([true, true, { view, revision: 2 }]);
    }
    expect([step(resume), resume.isOpen, resume.isPaused, resume.start]).toEqual([["c@2"], false, false, undefined]);
  });

  test("brings nothing to compare if it lists none", () => {
    expect(world.comeBack({ held: [] }).isOpen).toBe(false);
  });

  test("is sent endpoints at an equal version too, unless it asked for their Clusters before (client-behaviours A16)", () => {
    const sent = (type: TypeUrl, cameAfterOwner: boolean): unknown =>
      last(world.comeBack({ type, held: ["a"], names: ["a"], cameAfterOwner }));
    expect([sent(ENDPOINTS, false), sent(LB_ENDPOINT, false), sent(ROUTE, false)]).toEqual([["a@1"], ["a@1"], []]);
    expect([sent(ENDPOINTS, true), sent(LB_ENDPOINT, true), sent(ROUTE, true)]).toEqual([[], [], []]);
  });

  test("is sent everything once its versions are not to be trusted, also if it was being compared", () => {
    const resume = world.comeBack();
    step(resume);
    resume.distrust();
    expect([resume.isPaused, resume.isOpen, last(resume)]).toEqual([false, true, FIVE.map((name) => `${name}@1`)]);
  });

  test("is compared from the beginning if its node moves", () => {
    const resume = world.comeBack();
    for (const _ of [1, 2]) step(resume);
    const { elsewhere } = world;
    expect([step(resume, elsewhere), step(resume, elsewhere), step(resume, elsewhere)]).toEqual([
      ...["paused", "paused"],
      ["a@top"],
    ]);
  });

  test("is compared once for all that come back with the same", () => {
    const [one, other] = [world.comeBack({ key: "k" }), world.comeBack({ key: "k" })];
    expect([step(one), step(other), step(one), step(other)]).toEqual(["paused", "paused", [], []]);
  });

  test.each([
    ["versions", { key: "other" }],
    ["names", { names: ["a", "b"] }],
    ["trust", { type: ENDPOINTS, cameAfterOwner: true }],
    ["type", { type: LB_ENDPOINT }],
  ])("is compared by itself if it differs in its %s", (_, what) => {
    const [one, other] = [
      world.comeBack({ key: "k", type: ENDPOINTS }),
      world.comeBack({ key: "k", type: ENDPOINTS, ...what }),
    ];
    step(one);
    step(other);
    expect([one.start === undefined, one.start === other.start]).toEqual([false, false]);
  });

  test("whose list is nobody else's is compared by itself", () => {
    const [one, other] = [world.comeBack(), world.comeBack()];
    step(one);
    step(other);
    expect([one.start === other.start, one.start]).toEqual([false, other.start]);
  });

  test("is compared again if another client's comparison ended at an earlier revision", () => {
    const [one, other] = [world.comeBack({ key: "k" }), world.comeBack({ key: "k" })];
    for (const each of [one, other, one]) step(each);
    expect([one.isPaused, other.isPaused]).toEqual([false, true]);
    world.put(2, resource(ROUTE, "a", "2"));
    expect([step(other), last(other)]).toEqual(["paused", ["a@2"]]);
  });
});
