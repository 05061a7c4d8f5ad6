import { describe, expect, test } from "vitest";
import { ClientStory, received, sourceOf, whole } from "../../test/support/client-story.ts";
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
