import { expect, test } from "vitest";
import { describeWait } from "./describe-wait.ts";

test.each([
  [undefined, [], []],
  [undefined, ["a", "b"], ["keeps a, b"]],
  [{ for: "cluster", name: "b" }, [], ["waits until cluster b is in use"]],
  [{ for: "endpoints", name: "b" }, [], ["waits until cluster b has endpoints"]],
  [{ for: "content", name: "cert" }, [], ["waits until the content of cert is at hand"]],
  [{ for: "users", type: "t", shortName: "rds" }, ["a"], ["keeps a until rds is accepted"]],
  [{ for: "users", type: "t", nacked: true }, ["a"], ["keeps a until the NACKed t is corrected"]],
] as const)("%j, with %j pending removal, is shown as %j", (waits, pendingRemovals, shown) => {
  expect(describeWait(waits, pendingRemovals)).toEqual(shown);
});
