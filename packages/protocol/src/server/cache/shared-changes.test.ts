import { expect, test } from "vitest";
import { heldOf } from "../../../test/support/garbage.ts";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import { SharedChanges } from "./shared-changes.ts";

test("of many views that changed much, only some differences are kept to be shared", async () => {
  const changes = new SharedChanges("left-off");
  const base = new WrittenLayer(
    "base",
    Array.from({ length: 20_000 }, (_, i) => cluster(`c${i}`, "1")),
  );
  const views = Array.from({ length: 30 }, (_, i) =>
    viewOf(new WrittenLayer(`node/${i}`, [cluster(`own${i}`, "1")]), base),
  );
  const refs = views.map((view) => new WeakRef(changes.between({ view, revision: 0 }, view, CLUSTER)));
  expect(changes.between({ view: views[29] ?? viewOf(base), revision: 0 }, views[29] ?? viewOf(base), CLUSTER)).toBe(
    refs[29]?.deref(),
  );
  expect(await heldOf(refs)).toBe(9);
});
