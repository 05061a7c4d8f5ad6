import { expect, test } from "vitest";
import { type Certificate, createCertificate, shownCommonName } from "./support/certificate.ts";
import { connectedStreams, isConnected, startEnvoy } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";
import { until, watchFor } from "./support/wait.ts";

describeWith("envoy", "an Envoy that comes over TLS", () => {
  test("is served with a certificate of its own and refused without, also after the server's was replaced", async () => {
    await using stack = createStack();
    const [own, first, second] = ["envoy.example", "first.example", "second.example"].map(createCertificate) as [
      Certificate,
      Certificate,
      Certificate,
    ];
    const web = stack.use(await startHttpBackend("web"));
    const port = await freePort();
    const pems = stack.use(createSite({ "cert.pem": first.cert, "key.pem": first.key, "ca.pem": own.cert }));
    const site = stack.use(
      createSite({
        "web.json": [
          cluster({ name: "web" }),
          endpoints("web", [web.port]),
          listener({ name: "http", port, routes: "routes" }),
          routes("routes", [{ cluster: "web" }]),
        ],
      }),
    );
    const files = ["cert", "key", "ca"].flatMap((name) => [`--tls-${name}`, `${pems.directory}/${name}.pem`]);
    const server = stack.use(await startXdsServer({ site, flags: files }));
    const proxy = stack.use(await startTcpProxy(server.port));
    const trusted = `${first.cert}${second.cert}`;
    const envoy = stack.use(
      await startEnvoy({ mode: adsDelta, xdsPort: proxy.port, xdsTransportSocket: upstreamTls(trusted, own) }),
    );
    note("2.23 mutual TLS", adsDelta.name, "ready, ms", await envoy.ready(3_000));
    expect(await httpGet({ port })).toEqual({ status: 200, body: "web" });
    const stranger = stack.use(
      await startEnvoy({ mode: adsDelta, xdsPort: server.port, xdsTransportSocket: upstreamTls(trusted) }),
    );
    await until(
      { says: "the stranger has tried", withinMs: 5_000 },
      async () => (await stranger.stats())("cluster.xds.upstream_cx_total") >= 2,
    );
    await watchFor(500);
    expect(await connectedStreams(stranger)).toBe(0);
    pems.write({ "key.pem": second.key, "cert.pem": second.cert });
    await until({ says: "the new certificate is shown", withinMs: 10_000 }, async () => {
      return (await shownCommonName(server.port, own)) === "second.example";
    });
    proxy.cut();
    await until({ says: "Envoy is back", withinMs: 15_000 }, () => isConnected(envoy));
    site.write({ "more.json": [cluster({ name: "more" }), endpoints("more", [web.port])] });
    await until({ says: "and hears of changes", withinMs: 3_000 }, async () => {
      return (await envoy.stats())("cluster.more.membership_total") === 1;
    });
  });
});

/** A transport socket for TLS to the server, with or without a client certificate. */
function upstreamTls(trusted: string, own?: Certificate): object {
  const shown =
    own === undefined
      ? {}
      : {
          tls_certificates: [
            { certificate_chain: { inline_string: own.cert }, private_key: { inline_string: own.key } },
          ],
        };
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      common_tls_context: {
        ...shown,
        alpn_protocols: ["h2"],
        validation_context: { trusted_ca: { inline_string: trusted } },
      },
    },
  };
}
