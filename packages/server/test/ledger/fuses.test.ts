import type { Resource } from "@xdskit/protocol";
import type { FuseSettings } from "@xdskit/protocol/internal";
import { createServer, type ManagementServer } from "@xdskit/server";
import { afterEach, expect, test } from "vitest";
import { cluster, testApi } from "../support/test-server.ts";

const servers: ManagementServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** What becomes of 12 of 20 clusters that are deleted. */
async function deleteMost(fuses?: Partial<FuseSettings>): Promise<unknown> {
  const server = createServer({ api: testApi(), ledger: { ...(fuses && { fuses }) } });
  servers.push(server);
  const clusters = Array.from({ length: 20 }, (_, i) => cluster(`c${i}`));
  const publish = (resources: readonly Resource[]): Promise<{ readonly kind: string }> =>
    server.publish({ layers: new Map([["base", resources]]), origin: { writer: "directory" } });
  await publish(clusters);
  return (await publish(clusters.slice(12))).kind;
}

test("the fuses of a server are those of its options, else the defaults", async () => {
  expect(await deleteMost()).toBe("held");
  expect(await deleteMost({ resourcesRemoved: "off" })).toBe("applied");
  expect(await deleteMost({ resourcesRemovedFloor: 12 })).toBe("applied");
});
