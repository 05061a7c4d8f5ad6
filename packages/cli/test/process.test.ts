import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Cluster, createXdsClient } from "@xdskit/client";
import { afterEach, expect, test } from "vitest";
import { clusters, Site, until } from "./serving.ts";

const command = fileURLToPath(new URL("../bin/xds.js", import.meta.url));
const started: ChildProcessWithoutNullStreams[] = [];

afterEach(() => {
  for (const child of started.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
});

/** The built command, in a process of its own. */
function xds(...argv: readonly string[]): { child: ChildProcessWithoutNullStreams; output: () => string } {
  const child = spawn(process.execPath, [command, ...argv]);
  started.push(child);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { child, output: () => text };
}

test("the built command answers with its exit code", async () => {
  const good = xds("--version");
  expect(await once(good.child, "exit")).toEqual([0, null]);
  expect(good.output()).toBe("0.1.0\n");
  expect(await once(xds("nonsense").child, "exit")).toEqual([2, null]);
});

test("the first Ctrl-C sends clients away, the second ends the process at once", async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  const serving = xds("serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "off");
  const ready = /"address":"(127[\d.:]+)"[\s\S]*"event":"server-ready"/;
  await until("it is ready", () => ready.test(serving.output()));
  const address = ready.exec(serving.output())?.[1] ?? "";
  // A client that stays keeps the process alive until its time is up.
  const clients = await Promise.all([createXdsClient({ server: address }), createXdsClient({ server: address })]);
  for (const client of clients) client.watch(Cluster);
  await Promise.all(clients.map((client) => client.list(Cluster)));
  const exited = once(serving.child, "exit");
  serving.child.kill("SIGINT");
  await until("it is stopping", () => serving.output().includes('"event":"stopping"'));
  serving.child.kill("SIGINT");
  expect(await exited).toEqual([130, null]);
  await Promise.all(clients.map((client) => client.close()));
  await site.remove();
});

test("SIGTERM ends a server that nobody uses with 0", async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  const serving = xds("serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0");
  await until("it is ready", () => serving.output().includes('"event":"server-ready"'));
  const exited = once(serving.child, "exit");
  serving.child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  await site.remove();
});
