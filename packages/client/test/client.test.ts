import type { Resource, TypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { type Change, Cluster, ClusterLoadAssignment, Listener, validator, type Watch } from "../src/index.ts";
import { read, serve, serveWith, start } from "./support/own-server.ts";
import { until } from "./support/until.ts";

const CLUSTER_V2: TypeUrl = "type.googleapis.com/envoy.api.v2.Cluster";

function cluster(name: string, seconds: number, type: TypeUrl = Cluster.typeUrl): Resource {
  return read({ "@type": type, name, type: "STATIC", connectTimeout: `${seconds}s` });
}

function endpoints(name: string): Resource {
  return read({ "@type": ClusterLoadAssignment.typeUrl, clusterName: name });
}

/** The next change in a few words. */
async function next(watch: Watch<unknown>): Promise<string> {
  const { value, done } = await watch.next();
  return done === true ? "end" : words(value);
}

function words(change: Change): string {
  switch (change.kind) {
    case "added":
    case "changed":
      return `${change.kind} ${change.key} ${(change.resource.json as { connectTimeout?: string }).connectTimeout}`;
    case "does-not-exist":
      return `gone ${change.key} ${change.reason}`;
    case "error":
      return `error ${change.key} ${change.error.code}`;
    case "recovered":
    case "synced":
      return change.kind;
  }
}

const cells = (["sotw", "delta"] as const).flatMap((variant) =>
  [true, false].flatMap((isAggregated) =>
    (["v3", "v2"] as const).map((apiVersion) => ({ variant, isAggregated, apiVersion })),
  ),
);

describe.each(cells)("$variant, aggregated: $isAggregated, $apiVersion", (cell) => {
  test("B-GEN-01 what there is, changes and is removed is told", async () => {
    const type = cell.apiVersion === "v3" ? Cluster.typeUrl : CLUSTER_V2;
    const served = await serve(cluster("a", 1, type), cluster("b", 1, type));
    const client = await start({ server: served.address, transport: cell });
    const all = client.watch(Cluster);
    const first = [await next(all), await next(all)].sort();
    expect([first, await next(all)]).toEqual([["added a 1s", "added b 1s"], "synced"]);
    const one = client.watch(Cluster, "a");
    expect(await next(one)).toBe("added a 1s");
    served.put(cluster("a", 2, type));
    expect([await next(all), await next(one)]).toEqual(["changed a 2s", "changed a 2s"]);
    served.remove(type, "a");
    expect([await next(all), await next(one)]).toEqual(["gone a removed", "gone a removed"]);
    expect([...all.current.keys()]).toEqual(["b"]);
    expect(all.current.get("b")?.type).toBe(type);
  });
});

test("C-CLI-04 B-ACK-08 what a validator refuses is told as an error, the server hears why, and what was there stays", async () => {
  const served = await serve(cluster("a", 1));
  const refusing = validator(Cluster, ({ json }) => (json.connectTimeout === "2s" ? "2s is too long" : undefined));
  const client = await start({ server: served.address, validation: { validators: [refusing] } });
  const nacks: string[] = [];
  served.server.on("response-nacked", ({ error }) => nacks.push(error.message));
  const watch = client.watch(Cluster, "a");
  expect(await next(watch)).toBe("added a 1s");
  served.put(cluster("a", 2));
  const { value } = await watch.next();
  expect(value).toMatchObject({
    kind: "error",
    key: "a",
    error: { code: "REJECTED" },
    held: { version: expect.any(String) },
  });
  await until("the server heard of it", () => nacks.length > 0);
  expect(nacks).toEqual([expect.stringContaining("2s is too long")]);
  expect(watch.current.get("a")?.json).toMatchObject({ connectTimeout: "1s" });
  expect(client.dump()).toMatchObject([
    { key: "a", status: "nacked", resource: { name: "a" }, failure: { message: expect.stringContaining("2s") } },
  ]);
  served.put(cluster("a", 3));
  expect(await next(watch)).toBe("changed a 3s");
  expect(client.stats().subscriptions).toMatchObject([{ updateSuccess: 2, updateRejected: 1, configReload: 2 }]);
});

test("C-REC-01 C-CLI-05 a server that goes and comes back: what was there stays, and what changed meanwhile is told", async () => {
  const first = await serve(cluster("a", 1));
  const client = await start({ server: first.address });
  const watch = client.watch(Cluster);
  expect([await next(watch), await next(watch)]).toEqual(["added a 1s", "synced"]);
  await first.server.close();
  expect(await next(watch)).toBe("error undefined UNREACHABLE");
  expect(watch.current.get("a")?.json).toMatchObject({ connectTimeout: "1s" });
  await serveWith({ listen: { port: first.port } }, cluster("a", 2), cluster("b", 1));
  expect(await next(watch)).toBe("recovered");
  const told = [await next(watch), await next(watch)].sort();
  expect(told).toEqual(["added b 1s", "changed a 2s"]);
});

test("C-CLI-07 a hundred names asked for together are one request", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `e${index}`);
  const served = await serve(...names.map(endpoints));
  let requests = 0;
  const client = await start({
    server: served.address,
    onReport: (report) => {
      if (report.kind === "request-sent" && report.as !== "ack") requests++;
    },
  });
  const got = await Promise.all(names.map((name) => client.get(ClusterLoadAssignment, name)));
  expect([got.map(({ name }) => name), requests]).toEqual([names, 1]);
});

describe("once", () => {
  test("a resource, or all of them, with the JSON of its type", async () => {
    const served = await serve(cluster("a", 1), cluster("b", 1));
    const client = await start({ server: served.address });
    const got = await client.get(Cluster, "a");
    const timeout: string | undefined = got.json.connectTimeout;
    expect([got.name, timeout, got.version !== "", got.aliases, got.isRestored]).toEqual(["a", "1s", true, [], false]);
    const all = await client.list(Cluster);
    expect(all.map(({ name }) => name).sort()).toEqual(["a", "b"]);
    expect(await client.list(Listener)).toEqual([]);
  });

  test.each(["sotw", "delta"] as const)(
    "all of 20,000, which a server gives in parts where it may, %s",
    async (variant) => {
      const long = "c".repeat(200);
      const served = await serve(...Array.from({ length: 20_000 }, (_, index) => cluster(`${long}${index}`, 1)));
      const client = await start({ server: served.address, transport: { variant } });
      expect(await client.list(Cluster)).toHaveLength(20_000);
    },
  );

  test("what does not exist is told so", async () => {
    const served = await serve();
    const client = await start({ server: served.address, transport: { variant: "delta" } });
    await expect(client.get(Cluster, "nope")).rejects.toMatchObject({ code: "DOES_NOT_EXIST" });
  });

  test("a server that cannot be reached is tried until the time is over", async () => {
    const client = await start({ server: "127.0.0.1:1" });
    await expect(client.get(Cluster, "a", { timeoutMs: 150 })).rejects.toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test.each([new Error("enough"), "enough", 5, null, { why: "enough" }])(
    "rejects with the abort reason, before and during it: %j",
    async (reason) => {
      const client = await start({ server: "127.0.0.1:1" });
      const stopping = new AbortController();
      const { signal } = stopping;
      const during = [client.get(Cluster, "a", { signal }), client.list(Cluster, { signal })];
      stopping.abort(reason);
      const before = [client.get(Cluster, "a", { signal }), client.list(Cluster, { signal })];
      const outcomes = await Promise.allSettled([...during, ...before]);
      expect(outcomes).toEqual([1, 2, 3, 4].map(() => ({ status: "rejected", reason })));
    },
  );

  test("a client that is closed meanwhile says so, and does nothing any more", async () => {
    const client = await start({ server: "127.0.0.1:1" });
    const pending = client.get(Cluster, "a");
    const watch = client.watch(Cluster);
    await Promise.all([client.close(), expect(pending).rejects.toMatchObject({ code: "CLOSED" })]);
    expect(await next(watch)).toBe("end");
    expect(() => client.watch(Cluster)).toThrow(expect.objectContaining({ code: "CLOSED" }));
    await expect(client.get(Cluster, "a")).rejects.toMatchObject({ code: "CLOSED" });
  });
});

test("a type without a method of its own is told as such", async () => {
  const served = await serve();
  const client = await start({ server: served.address, transport: { isAggregated: false } });
  await expect(client.get("type.googleapis.com/acme.Widget", "w")).rejects.toMatchObject({ code: "TYPE_UNSUPPORTED" });
});

test("callbacks, and the end by a signal", async () => {
  const served = await serve(cluster("a", 1));
  const stopping = new AbortController();
  const client = await start({ server: served.address, signal: stopping.signal });
  const told: string[] = [];
  client.watch(Cluster, "a", { onChange: (change) => void told.push(words(change)) });
  await until("it was told", () => told.length > 0);
  served.put(cluster("a", 2));
  await until("the change was told", () => told.length > 1);
  stopping.abort();
  served.put(cluster("a", 3));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(told).toEqual(["added a 1s", "changed a 2s"]);
});

test("C-NOD-08 C-TTL-03 the node says what the client is and can do", async () => {
  const served = await serve();
  const nodes: unknown[] = [];
  served.server.on("node-connected", ({ node }) => nodes.push(node));
  const client = await start({ server: served.address, node: { id: "me", cluster: "c", metadata: { a: 1 } } });
  client.watch(Cluster);
  await until("the stream is there", () => nodes.length > 0);
  expect(nodes).toEqual([
    {
      id: "me",
      cluster: "c",
      metadata: { a: 1 },
      locality: undefined,
      userAgentName: "xdskit",
      userAgentVersion: "0.1.0",
      clientFeatures: ["xds.config.resource-in-sotw", "xds.config.supports-resource-ttl"],
    },
  ]);
});
