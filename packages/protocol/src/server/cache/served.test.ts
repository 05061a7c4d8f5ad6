import { expect, test } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import { noPendingRemovals } from "./pending-removals.ts";
import { type Served, ServedVersions } from "./served.ts";

const view = viewOf(new WrittenLayer("base", [cluster("a", "1")]));
const served = (version: string): Served => ({
  type: CLUSTER,
  version,
  position: { view, revision: 1 },
  pendingRemovals: noPendingRemovals,
});

test("versions that were sent are listed until they are taken, if anybody takes them", () => {
  const noted = [true, false].map((listsNews) => {
    const versions = new ServedVersions({ listsNews });
    for (const version of ["1", "2", "1"]) versions.note(served(version));
    return [versions.takeNews(), versions.takeNews()].map((news) => news.map(({ version }) => version));
  });
  expect(noted).toEqual([
    [["1", "2"], []],
    [[], []],
  ]);
});

test("of more versions than are kept, the oldest are not known any more", () => {
  const versions = new ServedVersions({ listsNews: false, kept: 2 });
  for (const version of ["1", "2", "3"]) versions.note(served(version));
  expect(["1", "2", "3"].map((version) => versions.find(CLUSTER, version, view)?.version)).toEqual([
    undefined,
    "2",
    "3",
  ]);
});
