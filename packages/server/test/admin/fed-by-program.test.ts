import { Cluster, createServer, type ManagementServer } from "@xdskit/server";
import { afterEach, expect, test } from "vitest";

let server: ManagementServer;
afterEach(() => server.close());

test("the source of a server that a program feeds is the program: it is good once it set something, and waits are for that", async () => {
  server = createServer({ listen: { port: 0 }, admin: { port: 0 } });
  const { adminAddress } = await server.listen();
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${adminAddress?.port}/api/v1/${path}`);
    return [response.status, await response.json()];
  };
  expect(await ask("source")).toMatchObject([200, { state: "loading", total: 0 }]);
  const error = "the source is not loaded yet";
  expect(await ask("progress/source")).toMatchObject([409, { error }]);
  const { revision } = server.set("base", [Cluster({ name: "a" })]);
  expect(await ask("source")).toMatchObject([200, { state: "good", total: 0 }]);
  expect(await ask("progress/source")).toMatchObject([200, { revision, state: "deployed", nodes: 0 }]);

  const problem = { code: "FILE_UNREADABLE", severity: "error", file: "inventory.json", message: "is away" } as const;
  server.reportSource({ state: "failed", problems: [problem] });
  expect(await ask("source")).toMatchObject([200, { state: "failed", total: 1 }]);
});
