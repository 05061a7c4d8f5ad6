import { formatTypeUrl } from "@xdskit/protocol";
import type { Remembered } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { Restarts } from "./restarts.ts";
import { WorkerHistory } from "./worker-history.ts";

const served = (revision: number): Remembered => ({
  ...{ kind: "served", revision, type: formatTypeUrl("envoy.config.cluster.v3.Cluster"), layers: ["base"] },
  ...{ version: "v", pendingRemovals: [] },
});

test("records pass between processes by the revisions of the primary", () => {
  const sent: Remembered[] = [];
  const start = { worker: 1, streamsAfter: 0, addresses: [], isReady: true, revision: 7, placement: undefined };
  const history = new WorkerHistory({ ...start, missing: [], numbers: undefined, remembered: [] }, (what) =>
    sent.push(what),
  );
  history.reached({ own: 8, primary: 7 });
  history.reached({ own: 9, primary: 8 });
  // The worker converted resources for v2 in between.
  history.reached({ own: 12, primary: 9 });
  for (const own of [6, 8, 11, 12]) history.remember(served(own));
  expect(sent).toEqual([6, 7, 8, 9].map(served));
  expect([6, 7, 8, 9].map((revision) => history.ofPrimary(served(revision)))).toEqual([6, 8, 9, 12].map(served));
});

test("a worker that keeps ending is started later each time, up to 10 s", () => {
  const restarts = new Restarts();
  const pauses = Array.from({ length: 10 }, () => restarts.next(1, 100));
  expect(pauses).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  expect([restarts.next(2, 100), restarts.next(1, 30_000), restarts.next(1, 100)]).toEqual([50, 50, 100]);
});
