import { join } from "node:path";
import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Cluster, type XdsClient } from "../src/index.ts";
import { makeAuthority, makeCertificate } from "./support/certificates.ts";
import { folder } from "./support/ends.ts";
import { read, serve, serveWith, start } from "./support/own-server.ts";

function cluster(name: string, more: Readonly<Record<string, unknown>> = {}): Resource {
  return read({ "@type": Cluster.typeUrl, name, type: "STATIC", connectTimeout: "1s", ...more });
}

/** Why a client does not get a resource, which a watch is told at once. */
async function failureOf(client: XdsClient, name: string): Promise<unknown> {
  const { value } = await client.watch(Cluster, name).next();
  return value?.kind === "error" ? value.error : value;
}

test("TLS both ways against our own server; without a certificate, and without TLS, it cannot be reached", async () => {
  const directory = folder();
  makeAuthority(directory, "ca");
  makeCertificate(directory, "server", "ca", "IP:127.0.0.1");
  makeCertificate(directory, "client", "ca", "DNS:client.test");
  const at = (name: string): string => join(directory, name);
  const files = { cert: at("server.crt"), key: at("server.key"), ca: at("ca.crt"), requireClientCertificate: true };
  const { address } = await serveWith({ tls: files }, cluster("a"));
  const trust = { caPath: at("ca.crt") };
  const own = { certificatePath: at("client.crt"), keyPath: at("client.key") };
  const client = await start({ server: address, transport: { tls: { ...trust, ...own } } });
  expect((await client.get(Cluster, "a")).name).toBe("a");
  const refused = [{ transport: { tls: trust } }, { transport: { tls: own } }, {}].map(async (options) => {
    const other = await start({ server: address, ...options });
    return failureOf(other, "a");
  });
  const unreachable = { code: "UNREACHABLE" };
  expect(await Promise.all(refused)).toMatchObject([unreachable, unreachable, unreachable]);
});

test.each(["sotw", "delta"] as const)(
  "B-GRP-08 a response of 20 MiB, %s; over the limit it is told why",
  async (variant) => {
    const filterMetadata = { padding: { text: "x".repeat(20 * 1024 * 1024) } };
    const { address } = await serve(cluster("a", { metadata: { filterMetadata } }));
    const client = await start({ server: address, transport: { variant } });
    expect((await client.get(Cluster, "a")).bytes.byteLength).toBeGreaterThan(20 * 1024 * 1024);
    const small = await start({ server: address, transport: { variant }, limits: { maxResponseBytes: 1024 * 1024 } });
    expect(await failureOf(small, "a")).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringMatching(/larger|max/i),
    });
  },
);

describe("C-CLI-06 what is kept", () => {
  test.for(["sotw", "delta"] as const)(
    "in %s: used when no server answers at the start, and told as such; then a server's word goes before it",
    async (variant) => {
      const cache = { path: join(folder(), "cache") };
      const first = await serve(cluster("a"), cluster("b"));
      const before = await start({ server: first.address, cache, transport: { variant } });
      const watched = before.watch(Cluster);
      while (!watched.isSynced) await watched.next();
      await before.close();
      await first.server.close();

      const client = await start({ server: first.address, cache, transport: { variant } });
      const watch = client.watch(Cluster);
      const { value } = await watch.next();
      expect(value).toMatchObject({ kind: "added", resource: { isRestored: true } });
      await serveWith({ listen: { port: first.port } }, cluster("a", { connectTimeout: "2s" }));
      while (watch.current.has("b") || watch.current.get("a")?.isRestored === true) await watch.next();
      expect([...watch.current.values()].map(({ name, json }) => [name, json.connectTimeout])).toEqual([["a", "2s"]]);
    },
  );

  test("is found with another token, and by no other node", async () => {
    const cache = { path: join(folder(), "cache") };
    const { server, address } = await serve(cluster("a"));
    const life = async (node: string, authorization: string): Promise<XdsClient> =>
      await start({ server: address, cache, node, transport: { headers: { authorization } } });
    const before = await life("node-1", "Bearer one");
    await before.watch(Cluster, "a").next();
    await before.close();
    await server.close();

    const other = await life("node-2", "Bearer one");
    expect(await failureOf(other, "a")).toMatchObject({ code: "UNREACHABLE" });
    await other.close();
    const after = await life("node-1", "Bearer two");
    expect((await after.get(Cluster, "a", { timeoutMs: 3_000 })).isRestored).toBe(true);
  });
});
