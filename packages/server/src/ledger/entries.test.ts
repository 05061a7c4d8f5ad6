import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl } from "@xdskit/protocol";
import { type Digest, LedgerState } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { Slices } from "../slices.ts";
import { encodeBody } from "./body.ts";
import { EntryMaker } from "./entries.ts";
import { EntryMemory } from "./entry-memory.ts";

const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const resources = Array.from({ length: 1_000 }, (_, i) =>
  createResource({ type, name: `cluster-${i}`, bytes: Uint8Array.of(i % 256) }, contentDigest),
);

/** Makes entries and counts the bodies that it encodes, each of which is digested. */
function counting(): { readonly maker: EntryMaker; readonly memory: EntryMemory; encoded: number } {
  const counter = { encoded: 0 };
  const digest: Digest = (parts) => {
    counter.encoded++;
    return contentDigest(parts);
  };
  const memory = new EntryMemory({ digest, holdsSecret: () => false });
  return Object.assign(counter, { memory, maker: new EntryMaker({ memory, digest, slices: new Slices() }) });
}

test("each body of a publication is encoded once, for its digest and for its record", async () => {
  const counter = counting();
  const { changes, resources: changed } = await counter.maker.changesTo(
    new Map([["base", resources]]),
    "directory",
    LedgerState.empty(),
  );
  expect(changes.map((change) => changed.get(change))).toEqual(resources);
  const bodies = new Map<string, Uint8Array>();
  await counter.maker.addBodies(resources, bodies);
  const expected = resources.map((resource) => encodeBody(resource, contentDigest));
  expect([...bodies]).toEqual(expected.map(({ id, bytes }) => [id, bytes]));
  expect(counter.encoded).toBe(1_000);
});

test("bodies that are not added are forgotten, and encoded again if they are", async () => {
  const counter = counting();
  for (const resource of resources) counter.maker.entryOf(resource);
  counter.maker.forgetBodies();
  await counter.maker.addBodies(resources.slice(0, 10), new Map());
  expect(counter.encoded).toBe(1_010);
});

test("of resources whose entries were made before nothing is encoded when they are published", async () => {
  const counter = counting();
  for (const resource of resources) counter.memory.entryOf(resource);
  expect(counter.encoded).toBe(1_000);
  await counter.maker.changesTo(new Map([["base", resources]]), "directory", LedgerState.empty());
  await counter.maker.addBodies(resources, new Map());
  expect(counter.encoded).toBe(1_000);
});
