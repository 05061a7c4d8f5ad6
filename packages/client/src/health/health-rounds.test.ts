import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HealthTarget } from "./health-check.ts";
import { HealthRounds } from "./health-rounds.ts";
import { type SpecifiedEndpoint, specifierOf } from "./specifier.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const tcp = { timeout: "1s", interval: "10s", unhealthyThreshold: 2, healthyThreshold: 2, tcpHealthCheck: {} };

function endpoints(ports: readonly number[], healthChecks: readonly object[] = [tcp]): readonly SpecifiedEndpoint[] {
  const of = ports.map((portValue) => ({ address: { socketAddress: { address: "10.0.0.1", portValue } } }));
  const clusterHealthChecks = [{ clusterName: "a", healthChecks, localityEndpoints: [{ endpoints: of }] }];
  return specifierOf({ clusterHealthChecks, interval: "1s" }).endpoints;
}

const statuses = (rounds: HealthRounds): readonly string[] => rounds.findings().map(({ status }) => status);

test("each endpoint is checked in its interval, and its thresholds count", async () => {
  let isHealthy = true;
  let checks = 0;
  const rounds = new HealthRounds({ TCP: () => ++checks > 0 && isHealthy });
  rounds.check({ endpoints: endpoints([1]) });
  expect(statuses(rounds)).toEqual(["UNKNOWN"]);
  await vi.advanceTimersByTimeAsync(0);
  expect([checks, statuses(rounds)]).toEqual([1, ["HEALTHY"]]);
  isHealthy = false;
  await vi.advanceTimersByTimeAsync(9_999);
  expect(checks).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect([checks, statuses(rounds)]).toEqual([2, ["HEALTHY"]]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([checks, statuses(rounds)]).toEqual([3, ["UNHEALTHY"]]);
  rounds.stop();
  expect([rounds.findings(), vi.getTimerCount()]).toEqual([[], 0]);
});

test("a check that takes longer than its timeout is over, and is told so", async () => {
  const aborted: number[] = [];
  const TCP = ({ port }: HealthTarget, signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        aborted.push(port);
        resolve(true);
      });
    });
  const rounds = new HealthRounds({ TCP });
  rounds.check({ endpoints: endpoints([1]) });
  await vi.advanceTimersByTimeAsync(999);
  expect([aborted, statuses(rounds)]).toEqual([[], ["UNKNOWN"]]);
  await vi.advanceTimersByTimeAsync(1);
  expect([aborted, statuses(rounds)]).toEqual([[1], ["TIMEOUT"]]);
  rounds.stop();
});

test("what is to wait longer than a timer can does not happen at once", async () => {
  let checks = 0;
  const rounds = new HealthRounds({ TCP: () => ++checks > 0 });
  const days = { ...tcp, timeout: "3000000s", interval: "3000000s" };
  rounds.check({ endpoints: endpoints([1], [days]) });
  await vi.advanceTimersByTimeAsync(24 * 60 * 60 * 1_000);
  expect([checks, statuses(rounds)]).toEqual([1, ["HEALTHY"]]);
  rounds.stop();
});

test("what is wanted again as before goes on as it stands; what is not wanted any more is stopped", async () => {
  const checked: number[] = [];
  const aborted: number[] = [];
  const TCP = ({ port }: HealthTarget, signal: AbortSignal): Promise<boolean> => {
    checked.push(port);
    signal.addEventListener("abort", () => void aborted.push(port));
    return port === 2 ? new Promise(() => {}) : Promise.resolve(true);
  };
  const rounds = new HealthRounds({ TCP });
  rounds.check({ endpoints: endpoints([1, 2]) });
  await vi.advanceTimersByTimeAsync(0);
  rounds.check({ endpoints: endpoints([1, 3]) });
  expect([statuses(rounds), aborted]).toEqual([["HEALTHY", "UNKNOWN"], [2]]);
  await vi.advanceTimersByTimeAsync(0);
  expect(checked).toEqual([1, 2, 3]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([checked, statuses(rounds)]).toEqual([
    [1, 2, 3, 1, 3],
    ["HEALTHY", "HEALTHY"],
  ]);
  rounds.stop();
});

test("of a thousand endpoints a hundred are checked at a time", async () => {
  let running = 0;
  let most = 0;
  const TCP = async (): Promise<boolean> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 10));
    running--;
    return true;
  };
  const rounds = new HealthRounds({ TCP });
  rounds.check({ endpoints: endpoints(Array.from({ length: 1_000 }, (_, port) => port + 1)) });
  await vi.advanceTimersByTimeAsync(100);
  expect([most, new Set(statuses(rounds))]).toEqual([100, new Set(["HEALTHY"])]);
  rounds.stop();
});
