import type { Resource } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { Listener, type MeshResource, RouteConfiguration } from "../src/index.ts";
import { ADS, cluster, endpoints, grpcTo, held, listener, nextWith, routes, sourceAt } from "./support/mesh.ts";
import { bootstrap, read, serve, start } from "./support/own-server.ts";
import { until } from "./support/until.ts";

test("C-ODC-01 a cluster that nothing refers to is there once it was asked for, one that does not exist is absent, silence ends", async () => {
  const served = await serve(cluster("a"), endpoints("a", 5));
  const client = await start({ server: served.address, transport: { variant: "delta" } });
  const mesh = client.resolve(Listener, "in", { snapshots: "every" });
  expect(await mesh.demandCluster("a")).toBe("found");
  await nextWith(mesh, ({ clusters }) => clusters.get("a")?.state === "ready");
  expect(await mesh.demandCluster("ghost")).toBe("absent");
  await until("nobody wants the ghost any more", () => !held(client).includes("ghost"));
  const silent = await start({ server: "127.0.0.1:1", transport: { variant: "delta" } });
  const waiting = silent.resolve(Listener, "in");
  expect(await waiting.demandCluster("a", { timeoutMs: 20 })).toBe("timeout");
  const stopping = new AbortController();
  const pending = waiting.demandCluster("a", { signal: stopping.signal });
  stopping.abort(new Error("enough"));
  await expect(pending).rejects.toThrow("enough");
});

test("C-ODC-01 a filter says where a Cluster comes from that a request needs, and how long that waits", async () => {
  const onDemand = (name: string, source: object, timeout: string, more: object = {}): Resource => {
    const odcds = { source, timeout };
    const config = { "@type": "type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand", odcds };
    return listener(name, "r", { httpFilters: [{ name: "on_demand", typedConfig: config }], ...more });
  };
  const quiet = onDemand("quiet", sourceAt("dead"), "0.050s");
  const roots = [onDemand("own", ADS, "10s"), quiet, listener("plain", "r"), routes("r")];
  const served = await serve(...roots, cluster("a"), endpoints("a", 5));
  const dynamic = { ads_config: grpcTo("live", "DELTA_GRPC"), lds_config: ADS };
  const client = await start({ bootstrap: bootstrap(served.port, dynamic) });
  const mesh = client.mesh();
  const { listeners } = await mesh.ready;
  const by = (name: string): { readonly by: MeshResource } => {
    const found = listeners.get(name);
    if (found === undefined) throw new Error(`expected a listener ${name}`);
    return { by: found };
  };
  expect(await mesh.demandCluster("a", by("own"))).toBe("found");
  expect(mesh.current?.clusters.get("a")?.state).toBe("ready");
  expect(await mesh.demandCluster("ghost", by("own"))).toBe("absent");
  expect(await mesh.demandCluster("a", by("plain"))).toBe("absent");
  expect(await mesh.demandCluster("late", by("quiet"))).toBe("timeout");
  // It stays, as long as a version of the filter does that says where it is.
  served.put(onDemand("own", ADS, "10s", { serverName: "changed" }));
  await nextWith(mesh, (one) => JSON.stringify(one.listeners.get("own")?.resource?.json).includes("changed"));
  expect(mesh.current?.clusters.get("a")?.state).toBe("ready");
  served.remove(Listener.typeUrl, "own");
  await nextWith(mesh, ({ clusters }) => !clusters.has("a"));
  await until("nobody wants it any more", () => !held(client).includes("a"));
});

test("C-VHD-02 a virtual host is fetched for the first request that needs it", async () => {
  const table = read({ "@type": RouteConfiguration.typeUrl, name: "r", vhds: { configSource: ADS } });
  const host = read({
    ...{ "@type": "type.googleapis.com/envoy.config.route.v3.VirtualHost", name: "r/web", domains: ["a.example"] },
  });
  const served = await serve(listener("in", "r"), table, host);
  const client = await start({ server: served.address, transport: { variant: "delta" } });
  const mesh = client.resolve(Listener, "in");
  await mesh.ready;
  expect(await mesh.demandHost("r", "A.example")).toBe("found");
  expect(await mesh.demandHost("r", "other.example")).toBe("absent");
  expect(await mesh.demandHost("none", "a.example")).toBe("absent");
  expect([...(mesh.current?.virtualHosts.keys() ?? [])]).toEqual(["r/web"]);
});
