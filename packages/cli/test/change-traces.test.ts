import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Attributes, context, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Cluster, createXdsClient, validator, type XdsClient } from "@xdskit/client";
import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, messageNameOf, type Resource, type TypeUrl } from "@xdskit/protocol";
import { createServer, type ManagementServer, type ManagementServerOptions } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { clusters, Site, until } from "./serving.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const api = createEnvoyApi();
const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const open: (ManagementServer | XdsClient)[] = [];

beforeAll(() => provider.register());
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  exporter.reset();
});
afterAll(async () => {
  await provider.shutdown();
  trace.disable();
  context.disable();
});

function resource(type: TypeUrl, name: string, message: object): Resource {
  const { bytes } = api.readMessage(messageNameOf(type), message);
  if (bytes === undefined) throw new Error(`${type} is no such message`);
  return createResource({ type, name, bytes }, contentDigest);
}

function cluster(name: string, connectTimeout = "1s"): Resource {
  return resource(CLUSTER, name, { name, connectTimeout });
}

function endpoints(clusterName: string, priority: number): Resource {
  return resource(ENDPOINTS, clusterName, { clusterName, endpoints: [{ priority }] });
}

async function start(options: ManagementServerOptions = {}) {
  const server = createServer({ api, ...options });
  open.push(server);
  const { address } = await server.listen();
  return { server, address: `127.0.0.1:${address.port}` };
}

/** A node that subscribes to all clusters, ACKs them, and NACKs one that is called `bad`. */
async function connect(server: string, node: string): Promise<void> {
  const refuse = validator(Cluster, ({ name }) => (name === "bad" ? "bad is refused" : undefined));
  const client = await createXdsClient({ server, node, validation: { validators: [refuse] } });
  open.push(client);
  client.watch(Cluster);
  await client.list(Cluster);
}

interface ToldSpan {
  readonly name: string;
  readonly attributes: Attributes;
  readonly status: string;
  readonly events: readonly unknown[];
  readonly children: readonly ToldSpan[];
}

/** The ended traces as trees, in the order in which they began; a part of a change is within it. */
function traces(): readonly ToldSpan[] {
  const spans = exporter.getFinishedSpans();
  const tell = (span: ReadableSpan): ToldSpan => {
    const children = spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === span.spanContext().spanId);
    for (const child of children) {
      expect(child.spanContext().traceId).toBe(span.spanContext().traceId);
      if (span.name !== "xds.change") continue;
      expect(msOf(child.startTime)).toBeGreaterThanOrEqual(msOf(span.startTime));
      expect(msOf(child.endTime)).toBeLessThanOrEqual(msOf(span.endTime));
      expect(msOf(child.endTime)).toBeGreaterThanOrEqual(msOf(child.startTime));
    }
    const { name, attributes, status, events } = span;
    return {
      ...{ name, attributes, status: SpanStatusCode[status.code] + (status.message ? `: ${status.message}` : "") },
      events: events.map((event) => [event.name, event.attributes]),
      children: children.toSorted((a, b) => msOf(a.startTime) - msOf(b.startTime)).map(tell),
    };
  };
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const roots = spans.filter(({ parentSpanContext }) => !ids.has(parentSpanContext?.spanId ?? ""));
  return roots.toSorted((a, b) => msOf(a.startTime) - msOf(b.startTime)).map(tell);
}

/** To the microsecond, which is what a sum of floating-point milliseconds keeps. */
function msOf([seconds, nanos]: readonly [number, number]): number {
  return Math.round(seconds * 1e6 + nanos / 1e3) / 1e3;
}

async function ended(count: number): Promise<readonly ToldSpan[]> {
  const roots = (): number => exporter.getFinishedSpans().filter(({ name }) => name === "xds.change").length;
  await until(`${count} traces ended`, () => roots() >= count);
  return traces();
}

function nodes(counts: Readonly<Record<string, number>>): Attributes {
  const all = { deployed: 0, nacked: 0, pending: 0, disconnected: 0, ...counts };
  return Object.fromEntries(Object.entries(all).map(([state, count]) => [`xds.nodes.${state}`, count]));
}

const quiet = { status: "UNSET", events: [], children: [] };
const origin = { writer: "directory" };
const base = (...resources: readonly Resource[]) => new Map([["base", resources]]);
const memory = { ledger: {} };

test("a publication that two clients ACK is one trace", async () => {
  const { server, address } = await start(memory);
  await server.publish({ layers: base(cluster("a")), origin });
  await connect(address, "one");
  await connect(address, "two");
  await ended(1);
  exporter.reset();
  const noticedAt = new Date(Date.now() - 30);
  const beganAt = new Date(noticedAt.getTime() + 10);
  const reading = { noticedAt, beganAt, endedAt: new Date(noticedAt.getTime() + 20) };
  const layers = base(cluster("a"), cluster("b"));
  await server.publish({ layers, author: "ann", message: "adds b", origin, reading });
  const revision = { "xds.revision": 2 };
  const deployed = nodes({ deployed: 2 });
  expect(await ended(1)).toEqual([
    {
      name: "xds.change",
      attributes: {
        ...{ "xds.change.kind": "publish", "xds.number": 2, ...revision, ...deployed },
        "xds.change.outcome": "deployed",
      },
      ...{ status: "UNSET", events: [] },
      children: [
        { ...quiet, name: "xds.read", attributes: {}, events: [["xds.read.began", {}]] },
        {
          ...{ ...quiet, name: "xds.publish" },
          attributes: {
            "xds.publish.result": "applied",
            ...{ "xds.number": 2, "xds.author": "ann", "xds.message": "adds b" },
          },
        },
        { ...quiet, name: "xds.commit", attributes: revision },
        { ...quiet, name: "xds.deliver", attributes: { ...revision, ...deployed, "xds.deliver.end": "settled" } },
      ],
    },
  ]);
  const read = exporter.getFinishedSpans().find(({ name }) => name === "xds.read");
  expect(read?.events.map(({ time }) => new Date(msOf(time)))).toEqual([beganAt]);
});

test("a NACK is an event with its node and reason, and the status of the trace", async () => {
  const { server, address } = await start();
  server.commit({ changes: [{ layer: "base", puts: [cluster("a")] }] });
  await connect(address, "one");
  await ended(1);
  exporter.reset();
  server.commit({ changes: [{ layer: "base", puts: [cluster("bad")] }] });
  const nacked = nodes({ nacked: 1 });
  const [change] = await ended(1);
  expect(change).toMatchObject({
    attributes: { "xds.change.kind": "commit", "xds.revision": 2, "xds.change.outcome": "nacked", ...nacked },
    status: expect.stringMatching(/^ERROR: NACK by 1 node: .*bad is refused/),
    children: [
      { name: "xds.commit", status: "UNSET" },
      {
        name: "xds.deliver",
        attributes: { "xds.revision": 2, ...nacked, "xds.deliver.end": "settled" },
        status: expect.stringMatching(/^ERROR: NACK by 1 node: /),
        events: [
          [
            "xds.nack",
            {
              ...{ "xds.node.id": "one", "xds.resource.type": CLUSTER, "xds.resource.names": ["a", "bad"] },
              "xds.nack.reason": expect.stringContaining("bad is refused"),
            },
          ],
        ],
      },
    ],
  });
});

test("a change that a fuse holds names the fuse, and its approval is a trace of its own", async () => {
  const { server, address } = await start(memory);
  const many = Array.from({ length: 25 }, (_, index) => cluster(`c${index}`));
  await server.publish({ layers: base(...many), origin });
  await connect(address, "one");
  await ended(1);
  exporter.reset();
  const held = await server.publish({ layers: base(cluster("c0")), author: "ann", origin });
  expect(held).toMatchObject({ kind: "held", number: 2 });
  expect(await ended(1)).toEqual([
    {
      ...{ ...quiet, name: "xds.change" },
      attributes: { "xds.change.kind": "publish", "xds.number": 2, "xds.change.outcome": "held" },
      children: [
        {
          ...{ ...quiet, name: "xds.publish" },
          attributes: { "xds.publish.result": "held", "xds.number": 2, "xds.author": "ann" },
          events: expect.arrayContaining([["xds.fuse.tripped", { "xds.fuse.message": expect.any(String) }]]),
        },
      ],
    },
  ]);
  exporter.reset();
  await server.approve(2, { author: "bob" });
  expect(await ended(1)).toMatchObject([
    {
      attributes: { "xds.change.kind": "approve", "xds.change.outcome": "deployed", ...nodes({ deployed: 1 }) },
      children: [
        { name: "xds.publish", attributes: { "xds.publish.result": "applied", "xds.author": "bob" } },
        { name: "xds.commit" },
        { name: "xds.deliver" },
      ],
    },
  ]);
});

test("with nobody connected a trace ends with its commit, as a child of the caller's span", async () => {
  const { server } = await start();
  const tracer = trace.getTracer("program");
  tracer.startActiveSpan("deploy", (span) => {
    server.commit({ changes: [{ layer: "base", puts: [cluster("a")] }] });
    span.end();
  });
  await ended(1);
  const spans = exporter.getFinishedSpans();
  const change = spans.find(({ name }) => name === "xds.change");
  const deploy = spans.find(({ name }) => name === "deploy");
  expect(change?.parentSpanContext?.spanId).toBe(deploy?.spanContext().spanId);
  expect([change?.attributes, change?.status.code]).toEqual([
    {
      ...{ "xds.change.kind": "commit", "xds.revision": 1, ...nodes({}) },
      "xds.change.outcome": "deployed",
    },
    SpanStatusCode.UNSET,
  ]);
});

test("live data is not traced, and of many changes a second only ten are", async () => {
  const { server } = await start();
  for (let priority = 0; priority < 20; priority++)
    server.commit({ changes: [{ layer: "base", puts: [endpoints("a", priority)] }] });
  for (let second = 1; second <= 15; second++)
    server.commit({ changes: [{ layer: "base", puts: [cluster("a", `${second}s`)] }] });
  expect((await ended(10)).map(({ attributes }) => attributes["xds.revision"])).toEqual(
    Array.from({ length: 10 }, (_, index) => 21 + index),
  );
});

test("live data that is published is not traced, with nothing else", async () => {
  const { server } = await start(memory);
  await server.publish({ changes: [{ layer: "base", puts: [endpoints("a", 1)] }], origin });
  await server.publish({ changes: [{ layer: "base", puts: [endpoints("a", 2), cluster("a")] }], origin });
  await server.publish({ changes: [{ layer: "base", puts: [endpoints("a", 3)] }], origin });
  await server.publish({ changes: [{ layer: "base", puts: [cluster("b")] }], origin });
  const changes = await ended(2);
  expect(changes.map(({ attributes }) => attributes["xds.revision"])).toEqual([2, 4]);
});

test("a trace ends with its server, however far its clients are", async () => {
  const { server, address } = await start();
  server.commit({ changes: [{ layer: "base", puts: [cluster("a")] }] });
  let answer: (() => void) | undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const slow = validator(Cluster, async ({ name }) => {
    if (name === "b") await answered;
    return undefined;
  });
  const client = await createXdsClient({ server: address, node: "slow", validation: { validators: [slow] } });
  open.push(client);
  client.watch(Cluster);
  await client.list(Cluster);
  await ended(1);
  exporter.reset();
  server.commit({ changes: [{ layer: "base", puts: [cluster("b")] }] });
  await server.close();
  answer?.();
  expect((await ended(1))[0]?.attributes).toMatchObject({ "xds.revision": 2, "xds.change.outcome": "closed" });
});

test("xds serve traces a saved file with an SDK that --import registers, until the last ACK", async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  const spansFile = join(site.directory, "..", `${basename(site.directory)}.spans`);
  const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const flags = ["--listen", "127.0.0.1:0", "--admin", "off", "--state-dir", "off", "--validation", "off"];
  const argv = ["--import", file("otel.mjs"), file("../bin/xds.js"), "serve", site.directory, ...flags];
  const child = spawn(process.execPath, argv, { env: { ...process.env, SPANS: spansFile } });
  try {
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
    const ready = /"address":"(127[\d.:]+)"[\s\S]*"event":"ready"/;
    await until("it is ready", () => ready.test(log));
    await connect(ready.exec(log)?.[1] ?? "", "edge-1");
    const savedAt = Date.now();
    await site.write("clusters.yaml", clusters("one", "two"));
    const told = async (): Promise<FileSpan[]> =>
      (await readFile(spansFile, "utf8").catch(() => ""))
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    const ended = async (): Promise<FileSpan[]> => (await told()).filter(({ name }) => name === "xds.change");
    await until("both changes ended", async () => (await ended()).length === 2);
    const change = (await ended())[1];
    expect(change?.attributes).toEqual({
      ...{ "xds.change.kind": "publish", "xds.number": 2, "xds.revision": 2 },
      ...{ "xds.change.outcome": "deployed", ...nodes({ deployed: 1 }) },
    });
    expect(change?.scope).toBe("@xdskit/server");
    const children = (await told()).filter(({ parent }) => parent === change?.spanId);
    expect(children.map(({ name }) => name)).toEqual(["xds.read", "xds.publish", "xds.commit", "xds.deliver"]);
    const [read] = children;
    if (change === undefined || read === undefined) throw new Error("nothing was read");
    expect(read.startTime).toEqual(change.startTime);
    expect(msOf(change.startTime)).toBeGreaterThanOrEqual(savedAt - 1);
    expect(msOf(change.endTime)).toBeLessThanOrEqual(Date.now() + 1);
  } finally {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    await rm(spansFile, { force: true });
    await site.remove();
  }
});

interface FileSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parent?: string;
  readonly scope: string;
  readonly attributes: Attributes;
  readonly startTime: readonly [number, number];
  readonly endTime: readonly [number, number];
}
