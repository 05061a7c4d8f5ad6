import { expect, test } from "vitest";
import { delta, node, sotw } from "../../../test/support/conversation.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import { bytesOfNode } from "./node-cost.ts";
import { bytesOfRequest } from "./request-cost.ts";

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
