import { expect, test } from "vitest";
import type { CheckOutcome, HealthTarget } from "./health-check.ts";
import { HealthJudgement } from "./health-judgement.ts";

const check = {
  ...{ interval: "10s", unhealthyInterval: "4s", unhealthyEdgeInterval: "2s", healthyEdgeInterval: "1s" },
  ...{ unhealthyThreshold: 3, healthyThreshold: 2 },
};

/** The status and the pause after each outcome. */
function after(
  outcomes: readonly CheckOutcome[],
  terms: HealthTarget["check"] = check,
  protocol: HealthTarget["protocol"] = "TCP",
): readonly string[] {
  const judgement = new HealthJudgement({ check: terms, protocol });
  return outcomes.map((outcome) => {
    judgement.hear(outcome);
    return `${judgement.status} ${judgement.pauseMs(0)}`;
  });
}

test("the first outcome decides at once", () => {
  expect([after(["passed"]), after(["no-answer"]), after(["timeout"])]).toEqual([
    ["HEALTHY 10000"],
    ["UNHEALTHY 4000"],
    ["TIMEOUT 4000"],
  ]);
});

test("an endpoint is unhealthy after as many failures in a row as the threshold says, and is checked sooner then", () => {
  expect(
    after(["passed", "no-answer", "wrong-answer", "passed", "timeout", "no-answer", "timeout", "no-answer"]),
  ).toEqual([
    ...["HEALTHY 10000", "HEALTHY 10000", "HEALTHY 10000", "HEALTHY 10000", "HEALTHY 10000", "HEALTHY 10000"],
    ...["TIMEOUT 2000", "UNHEALTHY 4000"],
  ]);
});

test("and healthy again after as many successes in a row", () => {
  expect(after(["no-answer", "passed", "timeout", "passed", "passed", "passed"])).toEqual([
    ...["UNHEALTHY 4000", "UNHEALTHY 4000", "TIMEOUT 4000", "TIMEOUT 4000"],
    ...["HEALTHY 1000", "HEALTHY 10000"],
  ]);
});

test("over HTTP a wrong answer is enough, and no answer is not", () => {
  expect(after(["passed", "no-answer", "wrong-answer"], check, "HTTP")).toEqual([
    ...["HEALTHY 10000", "HEALTHY 10000", "UNHEALTHY 2000"],
  ]);
});

test("what a check does not say is a second, and thresholds of one; never without a pause", () => {
  expect(after(["passed", "no-answer", "passed"], {})).toEqual(["HEALTHY 1000", "UNHEALTHY 1000", "HEALTHY 1000"]);
  expect(after(["passed"], { interval: "0s" })).toEqual(["HEALTHY 100"]);
});

test("jitter is added by chance, before the first check too", () => {
  const jitter = { interval: "10s", initialJitter: "5s", intervalJitter: "2s", intervalJitterPercent: 50 };
  const judgement = new HealthJudgement({ check: jitter, protocol: "TCP" });
  expect([judgement.status, judgement.pauseMs(0.5)]).toEqual(["UNKNOWN", 2_500]);
  judgement.hear("passed");
  expect([0, 0.5].map((chance) => judgement.pauseMs(chance))).toEqual([10_000, 13_500]);
});
