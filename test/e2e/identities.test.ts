import { expect, test } from "vitest";
import { Authority, type IssuedCertificate } from "../../packages/server/test/support/authority.ts";
import { shownCommonName } from "./support/certificate.ts";
import { type Envoy, isConnected, startEnvoy } from "./support/envoy.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import { startGrpcClient } from "./support/grpc-client.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { grpcService, listener } from "./support/resource.ts";
import { medianOf, PROBES, REVOKED_MS, revokeSome } from "./support/revocation.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { slowdown, until } from "./support/wait.ts";

const WITHIN_MS = 20_000;
const SECRET = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/** Each service may be its own nodes, and has what is named after it. */
const rules = {
  access: {
    loopback: "rules",
    rules: [
      {
        identities: ["spiffe://prod/{service}"],
        nodes: ["{service}-*"],
        names: ["{service}", "{service}-*", "routes-{service}", "cluster-{service}"],
      },
    ],
  },
};

interface LogLine {
  readonly time?: string;
  readonly event?: string;
  readonly node?: string;
  readonly certificate?: string;
  readonly reason?: string;
}

describeWith("envoy", "an Envoy with a SPIFFE certificate", () => {
  describeWith("grpc-go", "beside a gRPC client with one", story);
});

function story(): void {
  test("each has its own view and Secrets, a stolen node id has nothing, a revoked certificate is off", async () => {
    await using stack = createStack();
    const authority = stack.use(new Authority("authority"));
    const own = authority.issue("IP:127.0.0.1,DNS:localhost");
    const [edge, pay] = [authority.issue("URI:spiffe://prod/edge"), authority.issue("URI:spiffe://prod/pay")];
    const [blue, green] = [stack.use(await startGrpcBackend("blue")), stack.use(await startGrpcBackend("green"))];
    const [edgePort, payPort] = [await freePort(), await freePort()];
    const pems = stack.use(
      createSite({
        ...{ "cert.pem": own.cert, "key.pem": own.key, "ca.pem": authority.cert, "crl.pem": authority.list() },
        ...{ "pay.crt": pay.cert, "pay.key": pay.key },
      }),
    );
    const site = stack.use(
      createSite({
        "xdskit.yaml": JSON.stringify(rules),
        "edge.json": [tlsListener("edge", edgePort), secret("edge", edge)],
        "pay.json": [tlsListener("pay-https", payPort), secret("pay", pay), ...grpcService("pay", [blue.port])],
      }),
    );
    const files = ["cert", "key", "ca", "crl"].flatMap((name) => [`--tls-${name}`, `${pems.directory}/${name}.pem`]);
    const server = stack.use(await startXdsServer({ site, flags: [...files, "--log-format", "json"] }));
    const envoyAs = async (id: string, certificate: IssuedCertificate): Promise<Envoy> =>
      stack.use(
        await startEnvoy({
          mode: adsDelta,
          xdsPort: server.port,
          node: { id },
          xdsTransportSocket: upstreamTls(authority.cert, certificate),
        }),
      );

    const envoy = await envoyAs("edge-1", edge);
    await envoy.ready(WITHIN_MS);
    expect(await httpGet({ port: edgePort, tls: true })).toEqual({ status: 200, body: "hello" });
    expect(await shownCommonName(edgePort)).toBe("client");
    expect(await namesOf(envoy)).toEqual({ listeners: ["edge"], secrets: ["edge"] });

    const thief = await envoyAs("edge-1", pay);
    const stolen = await until({ says: "the thief is refused", withinMs: WITHIN_MS }, () =>
      linesOf(server).find(({ event }) => event === "access-denied"),
    );
    expect(stolen.value).toMatchObject({ node: "edge-1" });
    expect(await namesOf(thief)).toEqual({ listeners: [], secrets: [] });

    const grpc = stack.use(
      await startGrpcClient("grpc-go", {
        xdsPort: server.port,
        nodeId: "pay-1",
        channelCredentials: {
          type: "tls",
          config: {
            ca_certificate_file: `${pems.directory}/ca.pem`,
            certificate_file: `${pems.directory}/pay.crt`,
            private_key_file: `${pems.directory}/pay.key`,
          },
        },
      }),
    );
    await grpc.add("pay");
    await grpc.lastIs("pay", "blue", WITHIN_MS);

    const before = await namesOf(envoy);
    authority.revoke(edge);
    const writeList = (): void => pems.write({ "crl.pem": authority.list() });
    const revokedAt = Date.now();
    writeList();
    await until({ says: "the revoked one is off", withinMs: WITHIN_MS }, async () => !(await isConnected(envoy)));
    // By the clock of the server, which ends its streams in the same turn: looking at Envoy takes time of its own.
    const { value: endedAt } = await until({ says: "the server has ended its streams", withinMs: WITHIN_MS }, () =>
      linesOf(server).find(({ event, reason }) => event === "certificate-ended" && reason === "revoked"),
    );
    await until({ says: "it is refused when it returns", withinMs: WITHIN_MS }, () =>
      linesOf(server).find(({ event }) => event === "connection-refused"),
    );
    expect(linesOf(server).filter(({ event }) => event === "certificate-ended")).toMatchObject([
      { certificate: expect.stringContaining("spiffe://prod/edge"), reason: "revoked" },
    ]);
    const revokedMs = [
      Date.parse(endedAt.time ?? "") - revokedAt,
      ...(await revokeSome(PROBES - 1, { port: server.port, authority, writeList })),
    ];
    note("identities", "envoy, h2", "revoked to disconnected, ms", revokedMs.join(", "));
    // One of a few may wait for others on shared cores.
    expect(medianOf(revokedMs)).toBeLessThan(slowdown() * REVOKED_MS);
    site.write({
      "more.json": [secret("edge-more", edge), tlsListener("edge-more", await freePort())],
      "pay.json": [tlsListener("pay-https", payPort), secret("pay", pay), ...grpcService("pay", [green.port])],
    });
    await grpc.lastIs("pay", "green", WITHIN_MS);
    await until({ says: "the edit is in force", withinMs: WITHIN_MS }, async () => (await server.revision()) > 1);
    expect(await namesOf(envoy)).toEqual(before);
    expect(await httpGet({ port: edgePort, tls: true })).toEqual({ status: 200, body: "hello" });
  });
}

function linesOf(server: XdsServer): readonly LogLine[] {
  const lines = server.process().log().split("\n");
  return lines.flatMap((line) => (line.startsWith("{") && line.endsWith("}") ? [JSON.parse(line) as LogLine] : []));
}

/** The names of the listeners and Secrets that an Envoy has. */
async function namesOf(envoy: Envoy): Promise<{ readonly listeners: unknown; readonly secrets: unknown }> {
  const [listeners, secrets] = [await envoy.dumped("dynamic_listeners"), await envoy.dumped("dynamic_active_secrets")];
  return { listeners: listeners.map(({ name }) => name), secrets: secrets.map(({ name }) => name) };
}

function secret(name: string, { cert, key }: IssuedCertificate): object {
  const tls = { certificate_chain: { inline_string: cert }, private_key: { inline_string: key } };
  return { "@type": SECRET, name, tls_certificate: tls };
}

/** A listener that answers by itself, with the Secret of its name or of the service in it. */
function tlsListener(name: string, port: number): object {
  const sds = { name: name.replace("-https", ""), sds_config: { ads: {}, resource_api_version: "V3" } };
  const answer = { match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: "hello" } } };
  const virtualHosts = [{ name: "all", domains: ["*"], routes: [answer] }];
  return listener({
    ...{ name, port, routes: name, manager: { route_config: { name, virtual_hosts: virtualHosts } } },
    transportSocket: transportSocket("Downstream", { tls_certificate_sds_secret_configs: [sds] }),
  });
}

/** A transport socket to the server with a client certificate. */
function upstreamTls(ca: string, { cert, key }: IssuedCertificate): object {
  return transportSocket("Upstream", {
    tls_certificates: [{ certificate_chain: { inline_string: cert }, private_key: { inline_string: key } }],
    alpn_protocols: ["h2"],
    validation_context: { trusted_ca: { inline_string: ca } },
  });
}

function transportSocket(kind: "Upstream" | "Downstream", common: object): object {
  const type = `type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.${kind}TlsContext`;
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: { "@type": type, common_tls_context: common },
  };
}
