import { mkdtemp, rm } from "node:fs/promises";
import { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type ServerEvents } from "@xdskit/server";
import { expect, onTestFinished, test } from "vitest";
import { testApi } from "../support/test-server.ts";

/** The servers of this process that listen, by what they listen at. */
function listening(): ReadonlyMap<unknown, Server> {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): readonly unknown[] };
  const servers = handles.call(process).filter((one): one is Server => one instanceof Server);
  return new Map(
    servers.map((one) => {
      const address = one.address();
      return [typeof address === "object" ? address?.port : address, one];
    }),
  );
}

test("a connection that the system cannot accept is reported, and the server goes on", async () => {
  const directory = await mkdtemp(join(tmpdir(), "xds-accept-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const adminSocket = join(directory, "admin.sock");
  const server = createServer({ api: testApi(), listen: { port: 0 }, admin: { port: 0 }, adminSocket });
  onTestFinished(() => server.close());
  const refused: ServerEvents["connection-refused"][] = [];
  server.on("connection-refused", (event) => refused.push(event));
  const { address, adminAddress } = await server.listen();
  const servers = listening();
  const error = new Error("accept EMFILE");
  for (const at of [address.port, adminAddress?.port, adminSocket]) servers.get(at)?.emit("error", error);
  expect(refused).toEqual(
    [`127.0.0.1:${address.port}`, `127.0.0.1:${adminAddress?.port}`, adminSocket].map((where) => ({
      ...{ kind: "connection-refused", address: undefined, at: expect.any(Date) as Date },
      reason: `no connection was accepted at ${where}: accept EMFILE`,
    })),
  );
});
