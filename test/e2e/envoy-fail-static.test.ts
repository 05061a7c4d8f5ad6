import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCertificate, shownCommonName } from "./support/certificate.ts";
import { isConnected, startEnvoy } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet, startHttpLoad } from "./support/http-load.ts";
import { adsDelta, configSource } from "./support/mode.ts";
import { describeWith, root } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

interface Status {
  readonly ready: boolean;
  readonly source: { readonly state: string };
  readonly ledger: {
    readonly held?: { readonly fuses: readonly object[] };
    readonly missing: { readonly total: number };
  };
}

const statusOf = async (server: XdsServer): Promise<Status> => (await server.admin("/api/v1/server")) as Status;

const isBroken = async (server: XdsServer): Promise<boolean> => (await statusOf(server)).source.state === "failed";

describeWith("envoy", "a server whose files are lost", () => {
  test("sends nothing of a change that loses half of the clusters, and serves a new Envoy after a kill", async () => {
    await using stack = createStack();
    const backend = stack.use(await startHttpBackend("blue"));
    const port = await freePort();
    const source = configSource(adsDelta);
    const names = Array.from({ length: 29 }, (_, index) => `unused-${index}`);
    const clustersOf = (list: readonly string[]): object[] => list.map((name) => cluster({ name, source }));
    const all = [...clustersOf(["blue", ...names]), ...names.map((name) => endpoints(name, [backend.port]))];
    const site = stack.use(
      createSite({
        "clusters.json": [...all, endpoints("blue", [backend.port])],
        "listeners.json": [listener({ name: "main", port, routes: "main", source })],
        "routes.json": [routes("main", [{ cluster: "blue" }])],
      }),
    );
    const server = stack.use(
      await startXdsServer({ site, hasFuses: true, flags: ["--state-dir", join(site.directory, ".state")] }),
    );
    const envoy = await startEnvoy({ mode: adsDelta, xdsPort: server.port });
    try {
      await envoy.ready(30_000);
      const load = stack.use(startHttpLoad({ port }));
      await load.answeredBy("blue", 30_000);
      const sent = await server.metric("xds_server_responses_total");

      site.write({ "clusters.json": clustersOf(["blue"]) });
      await until({ says: "it is held", withinMs: 30_000 }, async () => {
        return (await statusOf(server)).ledger.held !== undefined;
      });
      expect(await server.metric("xds_server_responses_total")).toBe(sent);
      site.write({ "clusters.json": "- {" });
      await until({ says: "the files are broken", withinMs: 30_000 }, () => isBroken(server));
      expect(await server.metric("xds_server_responses_total")).toBe(sent);

      await server.kill();
      await server.start();
      await until({ says: "Envoy is back", withinMs: 30_000 }, () => isConnected(envoy));
      expect((await load.stop()).failed).toEqual({});
    } finally {
      await envoy[Symbol.asyncDispose]();
    }
    await until({ says: "the files are known to be broken", withinMs: 30_000 }, () => isBroken(server));
    const fresh = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port }));
    await fresh.ready(30_000);
    expect(await httpGet({ port })).toEqual({ status: 200, body: "blue" });
    expect(await server.metric("xds_server_ready")).toBe(1);
  });

  test("leaves an Envoy its certificate, which the server does not have after a restart", async () => {
    await using stack = createStack();
    const port = await freePort();
    const { cert, key } = createCertificate("first.example");
    const guide = readFileSync(join(root, "docs/guides/secrets.md"), "utf8");
    const [, text = ""] = /`config\/listeners.yaml`[^\n]*\n\n```yaml\n([\s\S]*?)```/.exec(guide) ?? [];
    const secret = (chain: string): object => ({
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
      name: "edge",
      tls_certificate: { certificate_chain: { inline_string: chain }, private_key: { inline_string: key } },
    });
    const site = stack.use(
      createSite({ "secrets.json": [secret(cert)], "listeners.yaml": text.replace("10443", String(port)) }),
    );
    const server = stack.use(
      await startXdsServer({ site, hasFuses: true, flags: ["--state-dir", join(site.directory, ".state")] }),
    );
    const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port }));
    await envoy.ready(30_000);
    expect(await shownCommonName(port)).toBe("first.example");
    site.write({ "broken.json": "- {" });
    await until({ says: "the files are broken", withinMs: 30_000 }, () => isBroken(server));

    await server.kill();
    await server.start();
    await until({ says: "Envoy is back", withinMs: 30_000 }, () => isConnected(envoy));
    await until({ says: "the files are known to be broken", withinMs: 30_000 }, () => isBroken(server));
    expect((await statusOf(server)).ledger.missing.total).toBe(1);
    expect(await httpGet({ port, tls: true })).toEqual({ status: 200, body: "hello\n" });
    expect(await server.metric("xds_server_responses_total", { type: "sds" })).toBe(0);

    const second = createCertificate("second.example");
    const renewed = { certificate_chain: { inline_string: second.cert }, private_key: { inline_string: second.key } };
    site.write({ "broken.json": undefined, "secrets.json": [{ ...secret(cert), tls_certificate: renewed }] });
    await until({ says: "the renewed certificate is in use", withinMs: 30_000 }, async () => {
      return (await shownCommonName(port)) === "second.example";
    });
    expect((await statusOf(server)).ledger.missing.total).toBe(0);
  });
});
