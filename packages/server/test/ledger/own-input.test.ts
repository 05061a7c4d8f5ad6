import type { Resource } from "@xdskit/protocol";
import { createServer, type ManagementServer, type PublishResult } from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cluster, testApi } from "../support/test-server.ts";

let server: ManagementServer;
beforeEach(() => {
  server = createServer({ api: testApi(), ledger: {} });
});
afterEach(() => server.close());

const origin = { writer: "program" };
const [a, b] = [cluster("a"), cluster("b")];

/** What a publication came to, and its number. */
function outcome(result: PublishResult): unknown {
  return "number" in result ? [result.kind, result.number] : result;
}

test("layers that a program changes in place are published again", async () => {
  const base: Resource[] = [a];
  const layers = new Map([["base", base]]);
  const publish = async (): Promise<unknown> => outcome(await server.publish({ layers, origin }));
  const outcomes = [await publish()];
  base.push(b);
  outcomes.push(await publish(), await publish());
  layers.set("other", [b]);
  outcomes.push(await publish());
  layers.set("other", []);
  outcomes.push(await publish());
  expect(outcomes).toEqual([
    ["applied", 1],
    ["applied", 2],
    ["unchanged", 2],
    ["applied", 3],
    ["applied", 4],
  ]);
});

test("what a program changes after the call is not part of it", async () => {
  const puts: Resource[] = [a];
  const changes = [{ layer: "base", puts }];
  const first = server.publish({ changes, origin });
  puts.pop();
  changes.pop();
  const base: Resource[] = [a, b];
  const layers = new Map([["base", base]]);
  const second = server.publish({ layers, origin });
  base.pop();
  layers.clear();
  expect([outcome(await first), outcome(await second)]).toEqual([
    ["applied", 1],
    ["applied", 2],
  ]);
});

test("a placement that a program changes in place is published again", async () => {
  const groups = [{ name: "edge", match: { cluster: ["edge"] } }];
  const placement = { groups, clients: [], access: undefined };
  const publish = async (): Promise<unknown> => outcome(await server.publish({ placement, origin }));
  const outcomes = [await publish()];
  groups.push({ name: "canary", match: { cluster: ["canary"] } });
  outcomes.push(await publish(), await publish());
  expect(outcomes).toEqual([
    ["applied", 1],
    ["applied", 2],
    ["unchanged", 2],
  ]);
});
