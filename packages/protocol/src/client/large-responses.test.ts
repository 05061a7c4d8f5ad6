import { expect, test } from "vitest";
import { ClientStory, change, received, sourceOf } from "../../test/support/client-story.ts";
import { ENDPOINTS } from "../../test/support/resources.ts";

/** More than a call has room for as arguments. */
const MANY = 150_000;

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`);
}

test("C-RES-11 a response that names very many resources twice is NACKed", () => {
  const story = new ClientStory(sourceOf({ variant: "delta" }));
  story.watch(1, ENDPOINTS, "a");
  story.open(1);
  const twice = names(MANY);
  story.receive(1, change(ENDPOINTS, "n1", { removed: [...twice, ...twice] }));
  const errors = story.requests.flatMap(({ error }) => error?.message.split("; ").slice(-2) ?? []);
  expect(errors).toEqual(['"n99" is named twice', "and 149900 more"]);
});

/** If each were taken away by itself, it would not end in time. */
test("S-DLT-16 very many aliases of a resource are removed at once", () => {
  const story = new ClientStory(sourceOf({ variant: "delta" }));
  const aliases = names(50_000);
  story.watch(1, ENDPOINTS, "a");
  story.watch(2, ENDPOINTS, "n7");
  story.open(1);
  expect(story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1", { aliases })] }))).toEqual([
    "1: changed a@1",
    "2: changed a@1",
    "1> ClusterLoadAssignment n1",
  ]);
  expect(story.receive(1, change(ENDPOINTS, "n2", { removed: aliases }))).toEqual([
    "2: absent a removed",
    "1> ClusterLoadAssignment n2",
  ]);
});
