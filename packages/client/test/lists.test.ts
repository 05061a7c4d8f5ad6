import type { Resource, TypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Cluster, Listener, type MeshSnapshot, validator } from "../src/index.ts";
import { nextWith } from "./support/mesh.ts";
import { bootstrap, read, serve, start } from "./support/own-server.ts";

const CLUSTER = "envoy.config.cluster.v3.Cluster";
const LISTENER = "envoy.config.listener.v3.Listener";
const CLUSTERS: TypeUrl = `type.googleapis.com/${CLUSTER}Collection`;
const LISTENERS: TypeUrl = `type.googleapis.com/${LISTENER}Collection`;
const LB_ENDPOINT = "envoy.config.endpoint.v3.LbEndpoint";
const edge = `xdstp://live/${LISTENER}Collection/edge`;
const one = `xdstp://live/${CLUSTER}Collection/one`;

const named = (name: string, resource: object): Resource =>
  read({ "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource", name, resource });

const nameAt = (authority: string, id: string, type = CLUSTER): string => `xdstp://${authority}/${type}/${id}`;
const cluster = (name: string, connectTimeout: string, more: object = {}): object => ({
  ...{ "@type": Cluster.typeUrl, name, type: "STATIC", connectTimeout },
  ...more,
});
const clusterAt = (id: string, connectTimeout: string): Resource => read(cluster(nameAt("live", id), connectTimeout));
const listener = (statPrefix: string, name = "l"): object => ({
  ...{ "@type": Listener.typeUrl, name, statPrefix, apiListener: {} },
});
const inline = (name: string, resource: object, version = "1"): object => ({
  inlineEntry: { name, version, resource },
});
const located = (id: string, resourceType: string, authority = "live"): object => ({
  locator: { authority, resourceType, id },
});
const redirect = (name: string, resourceType: string, id: string): Resource =>
  named(name, { "@type": "type.googleapis.com/xds.core.v3.ResourceLocator", authority: "live", resourceType, id });
const listeners = (...entries: readonly object[]): Resource => named(edge, { "@type": LISTENERS, entries });
const clusters = (entries: object): Resource => named(one, { "@type": CLUSTERS, entries });

const variants = ["sotw", "delta"] as const;

describe.each(variants)("a list collection, %s", (variant) => {
  test("B-XTP-07 is told by its members, in it and elsewhere, as they change", async () => {
    const far = nameAt("live", "far", LISTENER);
    const { port, put, remove } = await serve(
      listeners(inline("a", listener("1")), inline("b", listener("1")), located("far", LISTENER)),
      read(listener("1", far)),
    );
    const client = await start({ server: `127.0.0.1:${port}`, transport: { variant } });
    const watch = client.watch(Listener, edge);
    const next = async (): Promise<unknown> => {
      const { value } = await watch.next();
      if (value === undefined || value.kind === "synced") return value?.kind;
      return [value.kind, value.key, "resource" in value ? value.resource.json.statPrefix : undefined];
    };
    expect([await next(), await next(), await next(), await next()]).toEqual([
      ["added", `${edge}#entry=a`, "1"],
      ["added", `${edge}#entry=b`, "1"],
      ["added", far, "1"],
      "synced",
    ]);
    put(read(listener("2", far)));
    expect(await next()).toEqual(["changed", far, "2"]);
    // Another version of the same content is nothing new.
    put(listeners(inline("a", listener("1"), "2"), inline("c", listener("3")), located("far", LISTENER)));
    expect([await next(), await next()]).toEqual([
      ["does-not-exist", `${edge}#entry=b`, undefined],
      ["added", `${edge}#entry=c`, "3"],
    ]);
    put(listeners(inline("a", listener("1")), inline("c", listener("4"))));
    expect([await next(), await next()]).toEqual([
      ["does-not-exist", far, undefined],
      ["changed", `${edge}#entry=c`, "4"],
    ]);
    expect([...watch.current.keys()]).toEqual([`${edge}#entry=a`, `${edge}#entry=c`]);
    // In State of the World nobody is told that a name is gone, but of Listeners and Clusters.
    if (variant === "sotw") return;
    remove(LISTENERS, edge);
    expect([await next(), await next(), await next()]).toEqual([
      ["does-not-exist", `${edge}#entry=a`, undefined],
      ["does-not-exist", `${edge}#entry=c`, undefined],
      ["does-not-exist", edge, undefined],
    ]);
    expect(watch.current.size).toBe(0);
  });

  test("B-XTP-07 is refused as a whole where something in it is wrong", async () => {
    const { port, put } = await serve(listeners(inline("a", listener("1"))));
    const check = ({ json }: { readonly json: { readonly statPrefix?: string } }): string | undefined =>
      json.statPrefix === "bad" ? "a bad prefix" : undefined;
    const client = await start({
      server: `127.0.0.1:${port}`,
      transport: { variant },
      validation: { validators: [validator(Listener, check)] },
    });
    const watch = client.watch(Listener, edge);
    while (!watch.isSynced) await watch.next();
    await watch.next();
    put(listeners(inline("a", listener("2")), inline("a", listener("3")), inline("b", cluster("c", "1s"))));
    expect((await watch.next()).value).toMatchObject({ kind: "error", error: { code: "REJECTED" } });
    put(listeners(inline("a", listener("bad"))));
    const { value } = await watch.next();
    expect(value).toMatchObject({ kind: "error", error: { code: "REJECTED", message: `${edge}: a bad prefix` } });
    expect([...watch.current].map(([key, { json }]) => [key, json.statPrefix])).toEqual([[`${edge}#entry=a`, "1"]]);
  });

  test("B-XTP-07 of it one entry may be asked for", async () => {
    const { port } = await serve(listeners(inline("a", listener("1")), inline("b", listener("2"))));
    const client = await start({ server: `127.0.0.1:${port}`, transport: { variant } });
    const found = await client.get(Listener, `${edge}#entry=b`);
    expect([found.name, found.version, found.json.statPrefix]).toEqual([`${edge}#entry=b`, "1", "2"]);
    await expect(client.get(Listener, `${edge}#entry=c`)).rejects.toMatchObject({ code: "DOES_NOT_EXIST" });
    if (variant === "delta")
      await expect(client.get(Listener, `${edge}-2`)).rejects.toMatchObject({ code: "DOES_NOT_EXIST" });
  });
});

describe("a list collection", () => {
  test("B-XTP-07 a member of another type is an error, and the others are told", async () => {
    const { port } = await serve(listeners(located("x", CLUSTER), inline("a", listener("1"))));
    const client = await start({ server: `127.0.0.1:${port}` });
    const watch = client.watch(Listener, edge);
    expect((await watch.next()).value).toMatchObject({ kind: "error", error: { code: "RESOURCE_ERROR" } });
    expect((await watch.next()).value).toMatchObject({ kind: "added", key: `${edge}#entry=a` });
    expect((await watch.next()).value).toEqual({ kind: "synced" });
  });

  test.each(variants)("S-XTP-10 may be elsewhere itself, and list a glob collection, %s", async (variant) => {
    const { port } = await serve(
      redirect(one, `${CLUSTER}Collection`, "two"),
      named(`xdstp://live/${CLUSTER}Collection/two`, { "@type": CLUSTERS, entries: located("in/*", CLUSTER) }),
      clusterAt("in/a", "1s"),
      clusterAt("in/b", "1s"),
      clusterAt("out", "1s"),
    );
    const client = await start({ server: `127.0.0.1:${port}`, transport: { variant } });
    const watch = client.watch(Cluster, one);
    while (!watch.isSynced) await watch.next();
    expect([...watch.current.keys()].sort()).toEqual([nameAt("live", "in/a"), nameAt("live", "in/b")]);
  });

  test.each(variants)("B-XTP-07 may list others, and entries of others, %s", async (variant) => {
    const nameOf = (id: string): string => `xdstp://live/${CLUSTER}Collection/${id}`;
    const list = (id: string, entries: object): Resource => named(nameOf(id), { "@type": CLUSTERS, entries });
    const entry = { authority: "live", resourceType: `${CLUSTER}Collection`, id: "two", directives: [{ entry: "a" }] };
    const { port, put } = await serve(
      list("one", located("two", `${CLUSTER}Collection`)),
      list("two", inline("a", cluster("c", "1s"))),
      redirect(nameAt("live", "all"), CLUSTER, "in/*"),
      clusterAt("in/x", "1s"),
      named(nameAt("live", "aside"), { "@type": "type.googleapis.com/xds.core.v3.ResourceLocator", ...entry }),
    );
    const client = await start({ server: `127.0.0.1:${port}`, transport: { variant } });
    const watch = client.watch(Cluster, one);
    const next = async (): Promise<unknown> => {
      const { value } = await watch.next();
      if (value === undefined || value.kind === "synced") return value?.kind;
      return [value.kind, value.key, value.kind === "error" ? value.error.message : value.kind];
    };
    expect([await next(), await next()]).toEqual([["added", `${nameOf("two")}#entry=a`, "added"], "synced"]);
    // The same entry by its own locator is nothing new.
    put(list("one", { locator: entry }), list("two", inline("a", cluster("c", "2s"))));
    while (watch.current.get(`${nameOf("two")}#entry=a`)?.json.connectTimeout !== "2s") await next();
    expect([...watch.current.keys()]).toEqual([`${nameOf("two")}#entry=a`]);
    // What stands in the place of one resource is one resource.
    expect((await client.get(Cluster, nameAt("live", "aside"))).json.connectTimeout).toBe("2s");
    await expect(client.get(Cluster, nameAt("live", "all"))).rejects.toMatchObject({ code: "RESOURCE_ERROR" });
    put(list("one", located("two", `${CLUSTER}Collection`)), list("two", located("one", `${CLUSTER}Collection`)));
    const circle = `${nameOf("two")}: expected a list that does not lead back to itself, got ${one} again`;
    for (let told: unknown; !JSON.stringify(told)?.includes(circle); ) told = await next();
    expect(watch.current.size).toBe(0);
  });

  test("B-XTP-07 C-XTP-12 stands in the place of everything, in watches and in the mesh of a proxy", async () => {
    const { port, put } = await serve(clusters(inline("a", cluster("c", "1s"))), clusterAt("other", "1s"));
    const client = await start({ bootstrap: bootstrap(port, { cds_resources_locator: one }) });
    expect((await client.list(Cluster)).map(({ name }) => name)).toEqual([`${one}#entry=a`]);
    const mesh = client.mesh();
    expect([...(await mesh.ready).clusters.keys()]).toEqual(["live", "dead", `${one}#entry=a`]);
    put(clusters(located("other", CLUSTER)));
    await nextWith(mesh, ({ clusters: there }) => there.get(nameAt("live", "other"))?.state === "ready");
    expect([...(mesh.current?.clusters.keys() ?? [])]).toEqual(["live", "dead", nameAt("live", "other")]);
  });

  test("B-XTP-07 B-LED-01 gives endpoints to a cluster of a mesh", async () => {
    const collection = `xdstp://live/${LB_ENDPOINT}Collection/e`;
    const endpoint = { address: { socketAddress: { address: "127.0.0.1", portValue: 80 } } };
    const body = { "@type": `type.googleapis.com/${LB_ENDPOINT}`, endpoint };
    const leds = { ledsConfig: { ads: {}, resourceApiVersion: "V3" }, ledsCollectionName: collection };
    const { port } = await serve(
      read(cluster(nameAt("live", "c"), "1s", { type: "EDS", edsClusterConfig: { edsConfig: { ads: {} } } })),
      read({
        "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
        clusterName: nameAt("live", "c"),
        endpoints: [{ ledsClusterLocalityConfig: leds }],
      }),
      // The descriptors lack it, but it is like that of listeners.
      {
        ...named(collection, { "@type": LISTENERS, entries: [inline("one", body)] }),
        type: `type.googleapis.com/${LB_ENDPOINT}Collection`,
      },
    );
    const client = await start({ server: `127.0.0.1:${port}` });
    const { clusters: there } = await client.resolve(Cluster, nameAt("live", "c")).ready;
    expect(there.get(nameAt("live", "c"))?.lbEndpoints.map(({ name }) => name)).toEqual([`${collection}#entry=one`]);
  });
});

describe("in a mesh", () => {
  test.each(variants)("S-XTP-10 a locator is followed once, %s", async (variant) => {
    const here = nameAt("live", "here");
    const { port, put } = await serve(redirect(here, CLUSTER, "there"), clusterAt("there", "1s"));
    const client = await start({ server: `127.0.0.1:${port}`, transport: { variant } });
    const mesh = client.resolve(Cluster, here);
    const timeout = ({ clusters: found }: MeshSnapshot): string | undefined =>
      found.get(here)?.resource?.json.connectTimeout;
    expect(timeout(await mesh.ready)).toBe("1s");
    put(clusterAt("there", "2s"));
    await nextWith(mesh, (snapshot) => timeout(snapshot) === "2s");
    put(clusterAt("other", "3s"), redirect(here, CLUSTER, "other"));
    await nextWith(mesh, (snapshot) => timeout(snapshot) === "3s");
    expect([...(mesh.current?.clusters.keys() ?? [])]).toEqual([here]);
  });

  test("C-XTP-11 an alternative is asked for while the authority of a name cannot be reached", async () => {
    const { port } = await serve(clusterAt("a", "1s"));
    const client = await start({ bootstrap: bootstrap(port) });
    const name = `${nameAt("dead", "a")}#alt=${encodeURIComponent(nameAt("live", "a"))}`;
    const { clusters: there } = await client.resolve(Cluster, name).ready;
    expect([...there.keys()]).toEqual([nameAt("live", "a")]);
  });
});
