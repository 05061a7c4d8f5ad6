import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import {
  Cluster,
  ClusterLoadAssignment,
  Listener,
  type MeshSnapshot,
  RouteConfiguration,
  TypedExtensionConfig,
  validator,
} from "../src/index.ts";
import { ADS, cluster, endpoints, held, listener, next, nextWith, portOf, routes, sourceAt } from "./support/mesh.ts";
import { read, serve, start } from "./support/own-server.ts";
import { until } from "./support/until.ts";

const ROUTER = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";
const LUA = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";

/** A snapshot in a few words. */
function words(snapshot: MeshSnapshot): Readonly<Record<string, string>> {
  const { listeners, routes: tables, clusters } = snapshot;
  return Object.fromEntries([
    ...[...listeners.values(), ...tables.values()].map(({ name, state }) => [name, state] as const),
    ...[...clusters.values()].map(
      ({ name, state, endpoints: assigned }) => [name, `${state} ${portOf(assigned?.json)}`] as const,
    ),
  ]);
}

describe.each([{ variant: "sotw" }, { variant: "delta" }] as const)("$variant", ({ variant }) => {
  test("C-SUB-21 a Listener is resolved to its routes, their clusters and endpoints", async () => {
    const served = await serve(
      listener("in", "r"),
      routes("r", "a", "b"),
      cluster("a"),
      endpoints("a", 1),
      cluster("b"),
      endpoints("b", 2),
    );
    const client = await start({ server: served.address, transport: { variant } });
    const mesh = client.resolve(Listener, "in");
    const first = await mesh.ready;
    expect(words(first)).toEqual({ in: "ready", r: "ready", a: "ready 1", b: "ready 2" });
    expect([first.isComplete, first.dangling, await next(mesh)]).toEqual([true, [], first]);
    served.put(endpoints("a", 7));
    const second = await nextWith(mesh, ({ clusters }) => portOf(clusters.get("a")?.endpoints?.json) === "7");
    expect(words(first)).toEqual({ in: "ready", r: "ready", a: "ready 1", b: "ready 2" });
    expect(second.revision).toBeGreaterThan(first.revision);
  });

  test("routes to another cluster are seen only with that cluster and its endpoints, and the old one is let go", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a", 1));
    const client = await start({ server: served.address, transport: { variant } });
    const mesh = client.resolve(Listener, "in");
    await next(mesh);
    const seen: unknown[] = [];
    served.put(cluster("b"), endpoints("b", 2), routes("r", "b"));
    const last = await nextWith(mesh, (snapshot) => {
      seen.push(snapshot.dangling, snapshot.isComplete);
      return snapshot.clusters.has("b");
    });
    expect(words(last)).toEqual({ in: "ready", r: "ready", b: "ready 2" });
    expect(new Set(seen.map((one) => JSON.stringify(one)))).toEqual(new Set(["[]", "true"]));
    expect(held(client)).toEqual(["b", "b", "in", "r"]);
  });

  test("a mesh that is closed by who hears of it asks for nothing more", async () => {
    const nowhere = { routeConfigName: "r", configSource: sourceAt("nowhere") };
    const onAds = { name: "x", configDiscovery: { configSource: ADS, typeUrls: [LUA] } };
    const served = await serve(listener("in", "", { rds: nowhere, httpFilters: [onAds] }));
    const client = await start({ server: served.address, transport: { variant } });
    const mesh = client.resolve(Listener, "in", {
      onReport: ({ kind }) => {
        if (kind === "source-unresolved") mesh.close();
      },
    });
    await expect(mesh.ready).rejects.toMatchObject({ code: "CLOSED" });
    expect(client.dump()).toEqual([]);
  });

  test("what is asked of a mesh by who hears of it comes after what he heard of", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a", 1));
    const client = await start({ server: served.address, transport: { variant } });
    const mesh = client.resolve(Listener, "in", {
      snapshots: "every",
      onReport: (report) => {
        if (report.kind === "answered" && report.type === ClusterLoadAssignment.typeUrl)
          mesh.demandCluster("late").catch(() => {});
      },
    });
    const { clusters, isComplete } = await nextWith(mesh, (snapshot) => snapshot.clusters.has("late"));
    expect([clusters.get("late")?.state, isComplete]).toEqual(["requested", false]);
  });

  test("C-WRM-13 C-WRM-02 a proxy asks for Listeners when its Clusters are warm, and sees updates warm", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a", 1));
    const asked: string[] = [];
    const client = await start({
      ...{ server: served.address, transport: { variant }, mode: "proxy" },
      onReport: (report) => {
        if (report.kind === "request-sent" && report.as === "initial") asked.push(report.type.split(".").at(-1) ?? "");
      },
    });
    const mesh = client.mesh();
    expect(words(await mesh.ready)).toEqual({ in: "ready", r: "ready", a: "ready 1" });
    expect(asked).toEqual(["Cluster", "ClusterLoadAssignment", "Listener", "RouteConfiguration"]);
    served.put(cluster("a", 2));
    const json = ({ clusters }: MeshSnapshot): unknown => clusters.get("a")?.resource?.json.connectTimeout;
    await nextWith(mesh, (snapshot) => json(snapshot) === "2s" && snapshot.isComplete);
    served.remove(Listener.typeUrl, "in");
    const last = await nextWith(mesh, ({ listeners, routes: tables }) => listeners.size + tables.size === 0);
    expect(words(last)).toEqual({ a: "ready 1" });
  });

  test("C-ACK-15 where Clusters are acknowledged when they are warm, they are", async () => {
    const served = await serve(cluster("a"), endpoints("a"));
    const acked: string[] = [];
    served.server.on("response-acked", ({ type }) => acked.push(type.split(".").at(-1) ?? ""));
    const client = await start({ server: served.address, transport: { variant }, dialect: { cdsAckWhenWarm: true } });
    const mesh = client.mesh();
    await mesh.ready;
    await until("Clusters are acknowledged", () => acked.includes("Cluster"));
    served.put(cluster("dns"), endpoints("dns"));
    await until("they are again", () => acked.filter((type) => type === "Cluster").length === 2);
    expect(acked.indexOf("ClusterLoadAssignment")).toBeLessThan(acked.indexOf("Cluster"));
  });

  test("names that lead nowhere are told, with the reason", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a", "ghost"), cluster("a"), endpoints("a"));
    const client = await start({
      server: served.address,
      transport: { variant },
      limits: { initialFetchTimeoutMs: 300 },
    });
    const { dangling } = await client.resolve(Listener, "in").ready;
    const ghost = {
      from: { type: RouteConfiguration.typeUrl, name: "r" },
      to: { type: Cluster.typeUrl, name: "ghost" },
    };
    expect(dangling).toEqual([{ ...ghost, why: "absent" }]);
    const proxy = client.mesh();
    expect((await proxy.ready).dangling).toEqual([{ ...ghost, why: "absent" }]);
    const nothing = await nextWith(client.resolve(Listener, "out"), ({ listeners }) => {
      return listeners.get("out")?.state === "absent";
    });
    const to = { type: Listener.typeUrl, name: "out" };
    expect(nothing.dangling).toEqual([{ from: undefined, to, why: "absent" }]);
  });

  test("what was refused leads nowhere, and is told as that", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a", 90));
    const patience = ({ json }: { readonly json: { readonly connectTimeout?: string } }): string | undefined =>
      json.connectTimeout === "90s" ? "too long" : undefined;
    const client = await start({
      server: served.address,
      transport: { variant },
      validation: { validators: [validator(Cluster, patience)] },
    });
    const mesh = client.resolve(Listener, "in", { snapshots: "every" });
    const refused = await nextWith(mesh, ({ clusters }) => clusters.get("a")?.state === "error");
    const to = { type: Cluster.typeUrl, name: "a" };
    expect(refused.dangling).toEqual([{ from: { type: RouteConfiguration.typeUrl, name: "r" }, to, why: "error" }]);
    const own = await nextWith(client.resolve(Cluster, "a", { snapshots: "every" }), ({ dangling }) =>
      dangling.some(({ why }) => why === "error"),
    );
    expect(own.dangling).toEqual([{ from: undefined, to, why: "error" }]);
  });
});

test("C-ECD-04 an extension config that does not fit is refused, and the server hears why", async () => {
  const filter = { name: "x", configDiscovery: { configSource: ADS, typeUrls: [ROUTER] } };
  const extension = (typedConfig: object): Resource =>
    read({ "@type": TypedExtensionConfig.typeUrl, name: "x", typedConfig });
  const served = await serve(
    ...[listener("in", "r", { httpFilters: [filter] }), routes("r"), extension({ "@type": LUA, inlineCode: "x" })],
  );
  const nacks: string[] = [];
  served.server.on("response-nacked", ({ error }) => nacks.push(error.message));
  const client = await start({ server: served.address });
  const mesh = client.resolve(Listener, "in", { snapshots: "every" });
  const refused = await nextWith(mesh, ({ extensions }) => extensions.get("x")?.state === "error");
  expect([refused.extensions.get("x")?.error?.code, refused.listeners.get("in")?.state]).toEqual([
    "REJECTED",
    "warming",
  ]);
  await until("the server heard of it", () => nacks.length > 0);
  expect(nacks[0]).toContain(`expected one of ${ROUTER}, got ${LUA}`);
  served.put(extension({ "@type": ROUTER }));
  await nextWith(mesh, ({ listeners }) => listeners.get("in")?.state === "ready");
});

test("what happens in a mesh is told", async () => {
  const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
  const client = await start({ server: served.address });
  const told: string[] = [];
  const mesh = client.resolve(Listener, "in", { onReport: ({ kind }) => void told.push(kind) });
  await mesh.ready;
  expect(told.filter((kind) => kind === "warmed")).toHaveLength(2);
  expect(told.filter((kind) => kind !== "warmed")).toEqual(["answered", "answered", "answered", "answered"]);
});

describe("the end", () => {
  test("a mesh that is closed leaves no subscription, no waiting, and its promise is rejected", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
    const client = await start({ server: served.address });
    const mesh = client.resolve(Listener, "in");
    await mesh.ready;
    await next(mesh);
    const pending = mesh.next();
    mesh.close();
    mesh.close();
    expect([await pending, await mesh.next()]).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    await until("nothing is wanted", () => held(client).length === 0);
    await expect(mesh.demandCluster("a")).rejects.toMatchObject({ code: "CLOSED" });
    const late = client.resolve(Listener, "other");
    late.close();
    await expect(late.ready).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("it ends with the loop, the signal, and the client", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
    const client = await start({ server: served.address });
    for await (const { clusters } of client.resolve(Listener, "in")) {
      expect([...clusters.keys()]).toEqual(["a"]);
      break;
    }
    await until("nothing is wanted", () => held(client).length === 0);
    const stopping = new AbortController();
    const stopped = client.resolve(Listener, "in", { signal: stopping.signal });
    stopping.abort();
    expect(await stopped.next()).toEqual({ done: true, value: undefined });
    const last = client.mesh();
    const pending = last.next();
    await client.close();
    expect((await pending).done).toBe(true);
    expect(() => client.mesh()).toThrow("closed");
  });
});
