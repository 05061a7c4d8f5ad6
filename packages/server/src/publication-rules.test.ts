import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl } from "@xdskit/protocol";
import { describeProblem } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { aPublication } from "./publication-rules.ts";

const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const good = createResource({ type, name: "a", bytes: new Uint8Array() }, contentDigest);
const origin = { writer: "api", digest: "d", git: { commit: "c", isDirty: false } };
const problemsOf = (given: unknown): readonly string[] => aPublication(given).map(describeProblem);

test("a publication is taken as it is", () => {
  const changes = [{ layer: "base", puts: [good], deletes: [{ type, name: "b" }] }, { layer: "node/n" }];
  const now = new Date();
  const reading = { noticedAt: now, beganAt: now, endedAt: now };
  const placement = { groups: [], clients: [], access: undefined };
  expect(problemsOf({ origin })).toEqual([]);
  expect(problemsOf({ origin, changes, author: "ann", message: "m", reading: undefined })).toEqual([]);
  expect(problemsOf({ origin, layers: new Map([["base", [good]]]), placement, reading })).toEqual([]);
});

test.each([
  [undefined, ["expected an object, got undefined"]],
  [null, ["expected an object, got null"]],
  [{}, ["origin: expected an object, got undefined"]],
  [{ origin: {} }, ["origin.writer: expected a name, got undefined"]],
  [{ origin, changes: [{ layer: "base", puts: [{}] }] }, [/^changes\[0\]\.puts\[0\]: expected a resource/]],
  [{ origin, layers: { base: [good] } }, [/^layers: expected a Map of lists of resources by layer, got /]],
  [
    {
      origin,
      layers: new Map<unknown, unknown>([
        ["base", [good, 5]],
        ["x", good],
        ["", []],
      ]),
    },
    [/^layers\["base"\]\[1\]: expected a resource/, /^layers\["x"\]: expected a list/, /^layers: expected names/],
  ],
  [{ origin, placement: {} }, [/^placement\.groups: expected a list/, /^placement\.clients: expected a list/]],
])("every mistake is told: %o", (given, expected) => {
  const matches = expected.map((one) => (typeof one === "string" ? one : expect.stringMatching(one)));
  expect(problemsOf(given)).toEqual(matches);
});
