import { formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import type { PublishResult } from "../ledger/publication.ts";
import { ChangeTraces } from "./change-traces.ts";

test("without an SDK nothing is listened to, and nothing else happens than the change", async () => {
  const unused = (): never => {
    throw new Error("this is for traces only");
  };
  const traces = new ChangeTraces({
    listeners: { on: unused } as never,
    deployments: { whenSettled: unused } as never,
    ...{ revision: unused, isLiveType: unused, failed: unused },
  });
  const result = Promise.resolve<PublishResult>({ kind: "applied", number: 1, revision: 1 });
  const about = { kind: "publish", author: undefined, message: undefined, reading: undefined, isLive: unused } as const;
  expect(traces.operation(about, () => result)).toBe(result);
  const typesOf = (): [ReturnType<typeof formatTypeUrl>] => [formatTypeUrl("envoy.config.cluster.v3.Cluster")];
  expect(traces.plain({ kind: "commit", typesOf }, () => 7)).toBe(7);
  await result;
});
