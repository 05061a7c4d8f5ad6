import { describe, expect, test } from "vitest";
import { ClientStory, change, errorOf, received, sourceOf, whole } from "../../test/support/client-story.ts";
import { CLUSTER } from "../../test/support/resources.ts";

const bad = (name: string): ReturnType<typeof received> => received(name, "1", { problem: "bad" });

describe.each(["all-or-nothing", "apply-valid"] as const)(
  "rejected resources with ever new names (%s)",
  (nackPolicy) => {
    test("of everything in State of the World only those of the newest response are remembered", () => {
      const story = new ClientStory(sourceOf({ dialect: { nackPolicy } }));
      story.watch(1, CLUSTER, "*");
      story.watch(2, CLUSTER, "named");
      story.open(1);
      story.receive(1, whole(CLUSTER, "1", "n1", [received("held", "1"), bad("named")]));
      for (let i = 2; i < 10; i++)
        story.receive(1, whole(CLUSTER, String(i), `n${i}`, [received("held", "1"), bad(`x${i}`), bad("named")]));
      expect(story.states.filter((state) => state.includes("nacked"))).toEqual([
        "Cluster named nacked: bad",
        "Cluster x9 nacked: bad",
      ]);
    });
  },
);

describe.each([
  [
    "rejected in delta",
    "delta",
    ["x0", "named"],
    (i: number) => change(CLUSTER, `n${i}`, { resources: [bad(`x${i}`), bad("named")] }),
  ],
  [
    "with errors in delta",
    "delta",
    ["x0"],
    (i: number) => change(CLUSTER, `n${i}`, { errors: [errorOf(`x${i}`, 14)] }),
  ],
  [
    "with errors in State of the World",
    "sotw",
    ["x0"],
    (i: number) => whole(CLUSTER, "1", `n${i}`, { errors: [errorOf(`x${i}`, 14)] }),
  ],
] as const)("ever new names, %s, whose removal no server sends", (_, variant, watched, response) => {
  function afterMany(): ClientStory {
    const story = new ClientStory(sourceOf({ variant }));
    story.watch(1, CLUSTER, "*");
    story.watch(2, CLUSTER, "named");
    story.watch(3, CLUSTER, "x0");
    story.open(1);
    for (let i = 0; i < 3_000; i++) story.receive(1, response(i));
    return story;
  }

  test("the last thousand are remembered, and those that are watched by name", () => {
    const failed = [...afterMany().machine.states()].filter(({ failure }) => failure !== undefined);
    const last = Array.from({ length: 1_000 }, (_, i) => `x${2_000 + i}`).slice(watched.length);
    expect(failed.map(({ name }) => name)).toEqual([...watched, ...last]);
  });

  test("a name that is no longer watched by itself is one of them", () => {
    const story = afterMany();
    story.stop(3);
    story.receive(1, response(3_000));
    expect([...story.machine.states()].some(({ name }) => name === "x0")).toBe(false);
  });
});

test("however many resources one response has that are rejected, all of them are remembered", () => {
  const story = new ClientStory(sourceOf({ variant: "delta" }));
  story.watch(1, CLUSTER, "*");
  story.open(1);
  story.receive(1, change(CLUSTER, "n1", { resources: Array.from({ length: 3_000 }, (_, i) => bad(`x${i}`)) }));
  expect([...story.machine.states()]).toHaveLength(3_000);
  story.receive(1, change(CLUSTER, "n2", { resources: [bad("y")] }));
  expect([...story.machine.states()]).toHaveLength(1_000);
});
