import { expect, test } from "vitest";
import { delta, node, sotw } from "../../../test/support/conversation.ts";
import { initialVersionsOf } from "../../../test/support/model-client.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import { bytesOfNode } from "./node-cost.ts";
import { bytesOfRequest, bytesOfVersions } from "./request-cost.ts";

test("a request that waits costs its texts twice, its names, and its node", () => {
  const heavy = { ...node("n"), metadata: { list: Array(100).fill({}) } };
  const costs = [
    bytesOfRequest(sotw(CLUSTER, {}), 10),
    bytesOfRequest(sotw(CLUSTER, { names: ["a", "b"] }), 10),
    bytesOfRequest(delta(CLUSTER, { subscribe: ["a"], unsubscribe: ["b"] }), 10),
    bytesOfRequest(delta(CLUSTER, { subscribe: ["a", "a"], distinct: new Set(["a"]) }), 10),
    bytesOfRequest(delta(CLUSTER, { node: heavy }), 10),
  ];
  expect(costs).toEqual([532, 532 + 2 * 48, 532 + 2 * 48, 532 + 2 * 48 + 40, 532 + bytesOfNode(heavy)]);
});

test("listed versions cost their bytes, and while they are compared their names too", () => {
  const versions = initialVersionsOf([
    ["a", "1"],
    ["b", "1"],
  ]);
  const received = { ...versions, byteLength: 100 };
  const costs = [versions, received].map((one) => [bytesOfVersions(one, false), bytesOfVersions(one, true)]);
  expect(costs).toEqual([
    [0, 2 * 88],
    [100, 200 + 2 * 88],
  ]);
});
