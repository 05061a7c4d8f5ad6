import { expect, test } from "vitest";
import { describeWait } from "./describe-wait.ts";

test.each([
  [undefined, [], []],
  [undefined, ["a", "b"], ["keeps a, b"]],
  [{ for: "cluster", name: "b" }, [], ["waits until cluster b is in use"]],
  [{ for: "endpoints", name: "b" }, [], ["waits until cluster b has endpoints"]],
  [{ for: "users", type: "t", shortName: "rds" }, ["a"], ["keeps a until rds is accepted"]],
  [{ for: "users", type: "t", refused: true }, ["a"], ["keeps a until the NACKed t is corrected"]],
] as const)("%j, with %j held over, is shown as %j", (waits, heldOver, shown) => {
  expect(describeWait(waits, heldOver)).toEqual(shown);
});
