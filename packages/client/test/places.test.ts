import { writeFileSync } from "node:fs";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Cluster, type ConfigProblem, Listener } from "../src/index.ts";
import { atEnd, folder } from "./support/ends.ts";
import { bootstrap, read, serve, start } from "./support/own-server.ts";

const CLUSTER = "envoy.config.cluster.v3.Cluster";
const LISTENER = "envoy.config.listener.v3.Listener";

const cluster = (name: string, connectTimeout = "1s"): Resource =>
  read({ "@type": Cluster.typeUrl, name, type: "STATIC", connectTimeout });

const redirect = (name: string, id: string, more: object = {}): Resource =>
  read({
    "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
    name,
    resource: {
      "@type": "type.googleapis.com/xds.core.v3.ResourceLocator",
      ...{ authority: "live", resourceType: CLUSTER, id, ...more },
    },
  });

const nameAt = (authority: string, id: string, type = CLUSTER): string => `xdstp://${authority}/${type}/${id}`;

describe("an xdstp name", () => {
  test("C-XTP-11 C-XTP-03 is asked for at its alternative while its authority cannot be reached", async () => {
    const { port } = await serve(cluster(nameAt("live", "a")));
    const client = await start({ bootstrap: bootstrap(port) });
    const name = `${nameAt("dead", "a")}#alt=${encodeURIComponent(nameAt("live", "a"))}`;
    const found = await client.get(Cluster, name);
    expect(found.name).toBe(nameAt("live", "a"));
    const watch = client.watch(Cluster, name);
    while (watch.current.size === 0) await watch.next();
    expect([...watch.current.keys()]).toEqual([nameAt("live", "a")]);
    expect(client.dump().map(({ key }) => key)).toEqual([nameAt("dead", "a"), nameAt("live", "a")]);
  });

  test("C-XTP-08 of an authority that nobody knows is nowhere, and says which are known", async () => {
    const client = await start({ bootstrap: bootstrap(1) });
    expect(() => client.watch(Cluster, nameAt("other", "a"))).toThrow(
      'knows nothing of the authority "other", but of "live", "dead"',
    );
    expect(() => client.watch(Cluster, "a")).toThrow("does not say where resources of");
  });

  test.each(["sotw", "delta"] as const)("S-XTP-10 is followed once to where a locator leads, %s", async (variant) => {
    const here = nameAt("live", "here");
    const { port, put } = await serve(redirect(here, "there/a"), cluster(nameAt("live", "there/a")));
    const client = await start({ server: `127.0.0.1:${port}`, transport: { variant } });
    const found = await client.get(Cluster, here);
    expect([found.name, found.json.connectTimeout]).toEqual([nameAt("live", "there/a"), "1s"]);

    const watch = client.watch(Cluster, here);
    const next = async (): Promise<unknown> => (await watch.next()).value;
    expect(await next()).toMatchObject({ kind: "added", key: here, resource: { json: { connectTimeout: "1s" } } });
    put(cluster(nameAt("live", "there/a"), "2s"));
    expect(await next()).toMatchObject({ kind: "changed", key: here, resource: { json: { connectTimeout: "2s" } } });
    put(cluster(nameAt("live", "there/b"), "3s"), redirect(here, "there/b"));
    expect(await next()).toMatchObject({ kind: "changed", key: here, resource: { json: { connectTimeout: "3s" } } });
    put(redirect(nameAt("live", "there/b"), "there/a"));
    expect(await next()).toMatchObject({ kind: "error", key: here, error: { code: "RESOURCE_ERROR" } });
    expect([...watch.current.keys()]).toEqual([here]);
    put(cluster(here, "4s"));
    expect(await next()).toMatchObject({ kind: "changed", key: here, resource: { name: here } });
  });

  test.each(["sotw", "delta"] as const)(
    "S-XTP-10 a locator of another type or to an unknown authority leads nowhere, %s",
    async (variant) => {
      const { port } = await serve(redirect(nameAt("live", "a"), "x", { resourceType: LISTENER }));
      const client = await start({ server: `127.0.0.1:${port}`, transport: { variant } });
      await expect(client.get(Cluster, nameAt("live", "a"))).rejects.toMatchObject({ code: "RESOURCE_ERROR" });
    },
  );

  test("C-XTP-12 a collection stands in the place of everything, in watches and in the mesh of a proxy", async () => {
    const { port } = await serve(cluster(nameAt("live", "in/a")), cluster(nameAt("live", "out/b")), cluster("c"));
    const locator = { cds_resources_locator: nameAt("live", "in/*") };
    const client = await start({ bootstrap: bootstrap(port, locator) });
    expect((await client.list(Cluster)).map(({ name }) => name)).toEqual([nameAt("live", "in/a")]);
    const mesh = client.mesh();
    expect([...(await mesh.ready).clusters.keys()]).toEqual(["live", "dead", nameAt("live", "in/a")]);
  });
});

describe("a bootstrap of gRPC", () => {
  test("A47 a target is the Listener that the template makes of it; an authority that is not told of fails", async () => {
    const old = nameAt("live", "svc", LISTENER);
    const listeners = ["named/svc", old].map((name) => read({ "@type": Listener.typeUrl, name, apiListener: {} }));
    const { port } = await serve(...listeners);
    const xds_servers = [{ server_uri: `127.0.0.1:${port}`, channel_creds: [{ type: "insecure" }] }];
    const client = await start({
      bootstrap: {
        xds_servers,
        client_default_listener_resource_name_template: "named/%s",
        authorities: { live: {} },
      },
    });
    for (const [target, name] of [
      ["svc", "named/svc"],
      ["xds:///svc", "named/svc"],
      ["xds://live/svc", old],
      [old, old],
    ] as const) {
      const mesh = client.resolve(Listener, target, { snapshots: "every" });
      const { value } = await mesh.next();
      expect([target, [...(value?.listeners.keys() ?? [])]]).toEqual([target, [name]]);
      mesh.close();
    }
    expect(() => client.resolve(Listener, "xds://other/svc")).toThrow('knows nothing of the authority "other"');
    expect(() => client.watch(Cluster, nameAt("other", "a"))).toThrow('knows nothing of the authority "other"');
  });
});

describe("options of a configuration", () => {
  test("C-FS-04 a file is read in the format that is said, whatever its name ends with", async () => {
    const file = join(folder(), "clusters.conf");
    writeFileSync(file, `resources:\n- "@type": ${Cluster.typeUrl}\n  name: a\n  connect_timeout: 1s\n`);
    const client = await start({ file, reading: { fileFormat: "yaml", isMoveOnly: true } });
    expect((await client.get(Cluster, "a")).name).toBe("a");
    const plain = await start({ file });
    await expect(plain.get(Cluster, "a", { timeoutMs: 2_000 })).rejects.toMatchObject({ code: "REJECTED" });
  });

  test("what is odd in a bootstrap that can be used is told", async () => {
    const warnings: ConfigProblem[] = [];
    const call_creds = [{ type: "jwt_token_file" }];
    const xds_servers = [{ server_uri: "127.0.0.1:1", channel_creds: [{ type: "insecure" }], call_creds }];
    await start({ bootstrap: { xds_servers }, reading: { onWarning: (warning) => warnings.push(warning) } });
    expect(warnings).toEqual([
      { severity: "warning", path: "xds_servers[0].call_creds", message: "credentials of calls are not sent" },
    ]);
  });

  test("calls name the authority that envoy_grpc says", async () => {
    const server = createServer();
    const authority = new Promise((resolve) => {
      server.on("stream", (stream, headers) => {
        resolve(headers[":authority"]);
        stream.close();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    atEnd(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const client = await start({ bootstrap: bootstrap(port, {}, { authority: "xds.example.com" }) });
    client.watch(Cluster, nameAt("live", "a"));
    expect(await authority).toBe("xds.example.com");
  });
});
