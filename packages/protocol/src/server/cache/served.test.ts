import { beforeEach, expect, test } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import type { View } from "../../state/view.ts";
import { noPendingRemovals } from "./pending-removals.ts";
import { type Served, ServedVersions } from "./served.ts";

let view: View;

beforeEach(() => {
  view = viewOf(new WrittenLayer("base", [cluster("a", "1")]));
});

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

test("a version that is noted again is as new as if it were noted first, once its journal was trimmed", () => {
  const base = new WrittenLayer("base", [cluster("a", "1")]);
  const of = viewOf(base);
  const at = (version: string, revision: number): Served => ({ ...served(version), position: { view: of, revision } });
  const versions = new ServedVersions({ listsNews: true, kept: 2 });
  for (const one of [at("1", 1), at("2", 1), at("1", 1)]) versions.note(one);
  base.put(2, cluster("a", "2"));
  base.tableFor(CLUSTER).journal.trim(2);
  expect([versions.find(CLUSTER, "1", of), [...versions.current()]]).toEqual([undefined, []]);
  const [again, third] = [at("1", 2), at("3", 2)];
  for (const one of [again, third]) versions.note(one);
  expect(["1", "2", "3"].map((version) => versions.find(CLUSTER, version, of))).toEqual([again, undefined, third]);
  expect([...versions.current()]).toEqual([again, third]);
  expect(versions.takeNews().map(({ version }) => version)).toEqual(["1", "2", "1", "3"]);
});

test("equal versions have equal content in every view, unless the version is set by the caller", () => {
  const top = new WrittenLayer("top");
  const other = viewOf(top, new WrittenLayer("base", [cluster("a", "1")]));
  const versions = new ServedVersions({ listsNews: false });
  versions.note(served("1"));
  expect(versions.find(CLUSTER, "1", other)).toEqual(served("1"));
  top.tableFor(CLUSTER).printVersion("1");
  expect(versions.find(CLUSTER, "1", other)).toBeUndefined();
  expect(versions.find(CLUSTER, "2", view)).toBeUndefined();
  const printed = { ...served("1"), position: { view: other, revision: 1 } };
  versions.note(printed);
  const third = viewOf(top, new WrittenLayer("another base"));
  expect([versions.find(CLUSTER, "1", other), versions.find(CLUSTER, "1", third)]).toEqual([printed, undefined]);
});
