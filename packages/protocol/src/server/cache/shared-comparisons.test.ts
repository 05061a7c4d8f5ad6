import { expect, test } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import { noInitialVersions } from "../../message/request.ts";
import { Subscription } from "../subscription/subscription.ts";
import { Comparison } from "./resume.ts";
import { SharedComparisons } from "./shared-comparisons.ts";

function make(): Comparison {
  const view = viewOf(new WrittenLayer("base", [cluster("a", "1")]));
  const { scope } = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  const options = { trustsVersions: true, namesPerStep: 1 };
  return new Comparison({ view, revision: 1 }, CLUSTER, scope, noInitialVersions, options);
}

test("clients with equal requests share a comparison until it is dropped", () => {
  const shared = new SharedComparisons();
  const first = shared.get("a", 1, make);
  expect([shared.get("a", 1, make) === first, shared.get("b", 1, make) === first]).toEqual([true, false]);
  shared.clear();
  expect(shared.get("a", 1, make)).not.toBe(first);
});

test("comparisons of 200,000 listed names are kept, the newest ones and the one that was asked for last", () => {
  const shared = new SharedComparisons();
  const [a, b] = [shared.get("a", 100_000, make), shared.get("b", 100_000, make)];
  expect([shared.get("a", 0, make) === a, shared.get("b", 0, make) === b]).toEqual([true, true]);
  const c = shared.get("c", 1, make);
  expect([shared.get("c", 0, make) === c, shared.get("b", 0, make) === b]).toEqual([true, true]);
  expect(shared.get("a", 0, make)).not.toBe(a);
  const large = shared.get("large", 300_000, make);
  expect([shared.get("large", 0, make) === large, shared.get("b", 0, make) === b]).toEqual([true, false]);
});
