import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { finish } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { editBetween, noteEdit } from "./known-edits.ts";

const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const make = (name: string): Resource => createResource({ type, name, bytes: new Uint8Array(3) }, contentDigest);
const [a, b, c] = [make("a"), make("b"), make("c")];

/** A list that must not be looked at. */
function unread(): readonly Resource[] {
  return new Proxy<readonly Resource[]>([], {
    get() {
      throw new Error("somebody looks at all of the list");
    },
  });
}

test("an edit that was noted is known without a look at the lists", () => {
  const before = unread();
  const after = unread();
  noteEdit(before, after, { added: [c], removed: [a] });
  expect(finish(editBetween(before, after))).toMatchObject({ added: [c], removed: [a] });
});

test("between other lists it is found", () => {
  const before = [a, b];
  const after = [b, c];
  noteEdit([a], after, { added: [b, c], removed: [a] });
  const { added, removed } = finish(editBetween(before, after));
  expect({ added, removed: [...removed] }).toEqual({ added: [c], removed: [a] });
});
