import { expect, test } from "vitest";
import { ClientStory, received, sourceOf, whole } from "./support/client-story.ts";
import { heldOf } from "./support/garbage.ts";
import { CLUSTER, ENDPOINTS } from "./support/resources.ts";

/** Those of these that somebody holds on to; `expected`: how many. */
async function namesHeld(
  kept: readonly (readonly [name: string, bytes: WeakRef<Uint8Array>])[],
  expected: number,
): Promise<string[]> {
  await heldOf(
    kept.map(([, bytes]) => bytes),
    expected,
  );
  return kept.flatMap(([name, bytes]) => (bytes.deref() === undefined ? [] : [name]));
}

function restore(story: ClientStory): readonly (readonly [name: string, bytes: WeakRef<Uint8Array>])[] {
  return [
    { type: CLUSTER, name: "cluster" },
    { type: ENDPOINTS, name: "endpoints" },
  ].map(({ type, name }) => {
    const bytes = new Uint8Array(8);
    story.restore({ type, name, aliases: [], version: "1", bytes });
    return [name, new WeakRef(bytes)];
  });
}

test.each([
  ["an aggregated stream", true, ["cluster", "endpoints"], []],
  ["a stream of one type", false, ["cluster", "endpoints"], ["endpoints"]],
])(
  "C-CLI-06 what is known from an earlier life is let go when %s was answered on",
  async (_, isAggregated, before, after) => {
    const story = new ClientStory(sourceOf({ isAggregated }));
    const early = restore(story);
    story.watch(1, CLUSTER, "*");
    story.open(1);
    expect(await namesHeld(early, before.length)).toEqual(before);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("other", "1")]));
    expect(await namesHeld(early, after.length)).toEqual(after);
    expect(await namesHeld(restore(story), after.length)).toEqual(after);
  },
);
