import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Resource } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { RouteConfiguration } from "../src/index.ts";
import { atEnd } from "./support/ends.ts";
import { cluster, endpoints, listener } from "./support/mesh.ts";
import { read, type Served, serve } from "./support/own-server.ts";
import { fileOf, type RunningProgram, startScript } from "./support/program.ts";

const routes = (prefix: string, cluster: string): Resource =>
  read({
    "@type": RouteConfiguration.typeUrl,
    name: "main",
    virtualHosts: [{ name: "all", domains: ["*"], routes: [{ match: { prefix }, route: { cluster } }] }],
  });

interface Backend {
  readonly name: string;
  readonly port: number;
  readonly server: Server;
}

/** Answers with its name, not at once, so that requests are under way when something changes. */
async function startBackend(name: string): Promise<Backend> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on("end", () => setTimeout(() => outgoing.end(name), 5));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(async () => void server.close());
  return { name, port: (server.address() as AddressInfo).port, server };
}

async function ask(port: number, path = "/"): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: "hello" });
  return `${answer.status} ${await answer.text()}`;
}

async function startBalancer(served: Served): Promise<{ readonly script: RunningProgram; readonly port: number }> {
  const script = startScript("examples/04-load-balancer/balancer.mjs", ["web"], { XDS: served.address, PORT: "0" });
  const [, port] = await script.find(/listening at 127\.0\.0\.1:(\d+)/);
  return { script, port: Number(port) };
}

test("the example that reads configuration prints what `xds serve` serves", async () => {
  const serving = startScript("packages/cli/bin/xds.js", [
    ...["serve", fileOf("examples/01-serve-a-directory/config"), "--listen", "127.0.0.1:0", "--admin", "off"],
    ...["--log-format", "json"],
  ]);
  const [, address = ""] = await serving.find(/"address":"(127[\d.:]+)"[\s\S]*"event":"ready"/);
  const reading = startScript("examples/03-read-configuration/read.mjs", [address]);
  expect(await reading.exit).toBe(0);
  expect(reading.printed()).toMatch(/^hello \(ROUND_ROBIN, version [\w-]+\): 127\.0\.0\.1:8081 127\.0\.0\.1:8082\n$/);
});

test("the example of a load balancer loses no request while endpoints move and routes change", async () => {
  const [first, second, third] = await Promise.all(["first", "second", "third"].map(startBackend));
  if (first === undefined || second === undefined || third === undefined) throw new Error("expected three backends");
  const served = await serve(listener("web", "main"), routes("/", "a"), cluster("a"), endpoints("a", first.port));
  const { script, port } = await startBalancer(served);
  const answers: string[] = [];
  let isAsking = true;
  const askers = Array.from({ length: 8 }, async () => {
    while (isAsking) answers.push(await ask(port));
  });
  const answeredBy = async (name: string): Promise<void> => {
    while (!answers.slice(-1)[0]?.endsWith(name)) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  await answeredBy("first");
  // A move: from now on there is only the second, and the first goes as soon as it has answered what it got.
  served.put(endpoints("a", second.port));
  await answeredBy("second");
  first.server.close();
  // One that is there no more is still named: its requests go to the next.
  served.put(endpoints("a", first.port, second.port));
  await script.find(/revision 3/);
  const before = answers.length;
  while (answers.length < before + 50) await new Promise((resolve) => setTimeout(resolve, 2));
  // Another cluster, with its endpoints and the routes to it in one change.
  served.put(cluster("b"), endpoints("b", third.port), routes("/", "b"));
  await answeredBy("third");
  isAsking = false;
  await Promise.all(askers);
  expect(new Set(answers)).toEqual(new Set(["200 first", "200 second", "200 third"]));
  expect(await script.stop()).toBe(0);
});

test("the example of a load balancer takes turns, says why it cannot send a request, and reports its load", async () => {
  const [first, second] = await Promise.all(["first", "second"].map(startBackend));
  if (first === undefined || second === undefined) throw new Error("expected two backends");
  const all = endpoints("a", first.port, second.port);
  const served = await serve(listener("web", "main"), routes("/here", "a"), cluster("a"), all);
  served.server.setLoadReporting({ intervalMs: 1_000 });
  let succeeded = 0;
  served.server.on("load-reported", ({ report }) => {
    for (const { localities } of report.clusters) for (const one of localities) succeeded += one.succeeded;
  });
  const { port } = await startBalancer(served);
  expect([await ask(port, "/here"), await ask(port, "/here/too"), await ask(port, "/there")]).toEqual([
    "200 first",
    "200 second",
    "503 no route leads anywhere\n",
  ]);
  // What is sent before the server asks is not counted.
  while (succeeded === 0) await ask(port, "/here");
});

test("the example that watches for drift tells what differs, and when nothing does", async () => {
  const both = [listener("web", "main"), routes("/", "a"), cluster("a"), endpoints("a", 1)];
  const [one, other] = await Promise.all([serve(...both), serve(...both)]);
  const script = startScript("examples/05-watch-for-drift/drift.mjs", [one.address, other.address], {
    SETTLE_MS: "200",
  });
  await script.find(/^no drift\n/);
  one.put(cluster("a", 2), cluster("b"), endpoints("b", 2));
  // A busy machine may show parts of a change; it ends with the whole of it.
  const drift = [
    "Cluster a differs",
    ...["Cluster b", "ClusterLoadAssignment b"].map((what) => `only ${one.address} has ${what}`),
  ];
  await script.find(new RegExp(`^no drift\n[\\s\\S]*${drift.join("\n")}\n$`));
  other.put(cluster("a", 2), cluster("b"), endpoints("b", 2));
  await script.find(new RegExp(`${drift.join("\n")}\n[\\s\\S]*no drift\n$`));
  expect(await script.stop()).toBe(0);
});
