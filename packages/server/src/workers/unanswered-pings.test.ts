import { expect, test } from "vitest";
import { UnansweredPings } from "./unanswered-pings.ts";

function afterPings(count: number): UnansweredPings {
  const pings = new UnansweredPings();
  for (let ping = 0; ping < count; ping++) pings.sent();
  return pings;
}

test.each([
  [0, "responsive"],
  [2, "responsive"],
  [3, "unresponsive"],
  [29, "unresponsive"],
  [30, "lost"],
] as const)("a worker that left %i pings unanswered is %s", (count, state) => {
  expect(afterPings(count).state).toBe(state);
});

test("an answer counts for all pings before", () => {
  const pings = afterPings(29);
  pings.answered();
  pings.sent();
  expect(pings.state).toBe("responsive");
});
