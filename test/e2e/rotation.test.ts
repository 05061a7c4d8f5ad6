import { expect, test } from "vitest";
import { Authority, type IssuedCertificate } from "../../packages/server/test/support/authority.ts";
import { type Envoy, isConnected, startEnvoy } from "./support/envoy.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import { GO_RACE, type GrpcClient, startGrpcClient } from "./support/grpc-client.ts";
import { type Backend, startHttpBackend } from "./support/http-backend.ts";
import { type HttpLoad, startHttpLoad } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, grpcService, listener, routes } from "./support/resource.ts";
import { medianOf, PROBES, REVOKED_MS, revokeSome } from "./support/revocation.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { slowdown, until, watchFor } from "./support/wait.ts";

// The long form: npm run rotation, which replaces every certificate each minute for 15 minutes.
const rotations = Number(process.env["XDS_ROTATIONS"] ?? 3);
const isLong = process.env["XDS_ROTATIONS"] !== undefined;
const everyMs = 1_000 * Number(process.env["XDS_ROTATION_SECONDS"] ?? 0);
const WITHIN_MS = 60_000;
const SECRET = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const UPSTREAM = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

const rules = {
  access: {
    loopback: "rules",
    rules: [
      {
        identities: ["spiffe://prod/{service}"],
        nodes: ["{service}-*"],
        names: ["{service}", "routes-{service}", "cluster-{service}"],
      },
    ],
  },
};
const services = ["edge", "web"] as const;

/** The CA of now and the one before, with what each service shows and trusts on disk. */
class Certificates {
  readonly #stack: Stack;
  readonly #site: Site;
  #authority: Authority;

  constructor(stack: Stack) {
    this.#stack = stack;
    this.#authority = stack.use(new Authority("authority"));
    this.#site = stack.use(createSite());
    this.#trust(this.#authority);
    this.#issueServer();
    this.issueClients();
  }

  get directory(): string {
    return this.#site.directory;
  }

  get authority(): Authority {
    return this.#authority;
  }

  /** A CA comes beside the one that there is; both are trusted everywhere. */
  addAuthority(): () => void {
    const former = this.#authority;
    this.#authority = this.#stack.use(new Authority("authority"));
    this.#trust(former, this.#authority);
    return () => this.#trust(this.#authority);
  }

  replaceServer(): void {
    this.#issueServer();
  }

  /** Issues what each service shows. */
  issueClients(): void {
    for (const service of [...services, "pay"]) {
      const issued = this.#authority.issue(`URI:spiffe://prod/${service}`);
      this.#site.write({
        [`${service}.crt`]: issued.cert,
        [`${service}.key`]: issued.key,
        [`${service}.json`]: [shown(issued)],
      });
    }
  }

  writeList(): void {
    this.#site.write({ "crl.pem": this.#authority.list() });
  }

  #issueServer(): void {
    const { cert, key } = this.#authority.issue("IP:127.0.0.1,DNS:localhost");
    this.#site.write({ "key.pem": key, "cert.pem": cert });
  }

  #trust(...authorities: readonly Authority[]): void {
    const all = authorities.map(({ cert }) => cert).join("");
    this.#site.write({
      // The list of a CA comes before the CA, whose clients are refused without one.
      "crl.pem": authorities.map((one) => one.list()).join(""),
      "ca.pem": all,
      "trusted.json": [
        { "@type": SECRET, name: "trusted", validation_context: { trusted_ca: { inline_string: all } } },
      ],
    });
  }
}

function shown({ cert, key }: IssuedCertificate): object {
  const certificate = { certificate_chain: { inline_string: cert }, private_key: { inline_string: key } };
  return { "@type": SECRET, name: "shown", tls_certificate: certificate };
}

/** TLS to the server by files that Envoy follows. */
function followed(directory: string, service: string): object {
  const secret = (name: string, file: string): object => ({
    name,
    sds_config: { path_config_source: { path: `${directory}/${file}.json` }, resource_api_version: "V3" },
  });
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": UPSTREAM,
      common_tls_context: {
        alpn_protocols: ["h2"],
        tls_certificate_sds_secret_configs: [secret("shown", service)],
        validation_context_sds_secret_config: secret("trusted", "trusted"),
      },
    },
  };
}

interface LoadedClient {
  readonly envoy: Envoy;
  readonly load: HttpLoad;
}

describeWith("envoy", "certificates that are replaced under load", () => {
  describeWith("grpc-go", "with Envoys and a gRPC client", story);
});

function story(): void {
  const timeout = 300_000 + rotations * (everyMs + WITHIN_MS);
  test("CA, server and clients: no request and no stream is lost; a revoked client is off", { timeout }, async () => {
    await using stack = createStack();
    const certificates = new Certificates(stack);
    const { directory } = certificates;
    const files = ["cert", "key", "ca", "crl"].flatMap((name) => [`--tls-${name}`, `${directory}/${name}.pem`]);
    const [blue, green] = [stack.use(await startHttpBackend("blue")), stack.use(await startHttpBackend("green"))];
    const [grpcBlue, grpcGreen] = [
      stack.use(await startGrpcBackend("blue")),
      stack.use(await startGrpcBackend("green")),
    ];
    const ports = new Map<string, number>();
    for (const service of services) ports.set(service, await freePort());
    const filesOf = (backend: Backend, grpc: { readonly port: number }) => ({
      ...Object.fromEntries(services.map((name) => [`${name}.json`, served(name, ports.get(name) ?? 0, backend)])),
      "pay.json": grpcService("pay", [grpc.port]),
    });
    const site = stack.use(createSite({ "xdskit.yaml": JSON.stringify(rules), ...filesOf(blue, grpcBlue) }));
    const server = stack.use(await startXdsServer({ site, flags: [...files, "--log-format", "json"] }));

    const clients: LoadedClient[] = [];
    for (const service of services) {
      const xdsTransportSocket = followed(directory, service);
      const envoy = stack.use(
        await startEnvoy({ mode: adsDelta, xdsPort: server.port, node: { id: `${service}-1` }, xdsTransportSocket }),
      );
      await envoy.ready(WITHIN_MS);
      const load = stack.use(startHttpLoad({ port: ports.get(service) ?? 0, keptPerSecond: 50, newPerSecond: 20 }));
      await load.answeredBy("blue", WITHIN_MS);
      load.take();
      clients.push({ envoy, load });
    }
    const grpc = stack.use(await startPay(server, directory));
    await grpc.lastIs("pay", "blue", WITHIN_MS);

    const taken = { requests: 0, failed: {} as Record<string, number> };
    for (let rotation = 1; rotation <= rotations; rotation++) {
      const startedAt = performance.now();
      await rotate(certificates, server, clients);
      // Everybody hears of an edit over the new connections.
      const [backend, grpcBackend] = rotation % 2 === 0 ? [blue, grpcBlue] : [green, grpcGreen];
      site.write(filesOf(backend, grpcBackend));
      for (const { load } of clients) await load.answeredBy(backend.name, WITHIN_MS);
      await grpc.lastIs("pay", backend.name, WITHIN_MS);
      await watchFor(Math.max(0, everyMs - (performance.now() - startedAt)));
      for (const { load } of clients) {
        const { total, failed } = load.take();
        taken.requests += total;
        for (const [text, count] of Object.entries(failed)) taken.failed[text] = (taken.failed[text] ?? 0) + count;
      }
    }
    const { ok, failed } = await grpc.counts("pay");
    const calls = Object.values(ok).reduce((sum, count) => sum + count, 0);
    const lostCalls = failed.filter(({ text }) => !text.includes(GO_RACE));
    note("rotation", "envoy, grpc-go", "rotations, requests, calls", `${rotations}, ${taken.requests}, ${calls}`);
    expect({ failed: taken.failed, lostCalls }).toEqual({ failed: {}, lostCalls: [] });
    expect(taken.requests).toBeGreaterThan(rotations * 50);
    // Streams ended where their certificate did, each once for each CA that went, and for no other reason.
    const ended = await server.metric("xds_server_certificates_ended_total", { reason: "untrusted" });
    expect(ended).toBe(rotations * (services.length + 1));
    expect(await server.metric("xds_server_streams_total")).toBe(ended);
    expect(linesOf(server).filter(({ event }) => event === "access-denied")).toEqual([]);

    const { authority } = certificates;
    const writeList = (): void => certificates.writeList();
    const revokedMs = await revokeSome(PROBES, { port: server.port, authority, writeList });
    note("rotation", "h2", "revoked to disconnected, ms", revokedMs.join(", "));
    // The long form has the machine to itself; elsewhere one of a few may wait for others.
    expect(isLong ? Math.max(...revokedMs) : medianOf(revokedMs)).toBeLessThan(slowdown() * REVOKED_MS);
    for (const { envoy } of clients) expect(await isConnected(envoy)).toBe(true);
  });
}

/** The resources of a service. */
function served(name: string, port: number, backend: Backend): readonly object[] {
  return [
    listener({ name, port, routes: `routes-${name}` }),
    routes(`routes-${name}`, [{ cluster: `cluster-${name}` }]),
    cluster({ name: `cluster-${name}` }),
    endpoints(`cluster-${name}`, [backend.port]),
  ];
}

async function startPay(server: XdsServer, directory: string): Promise<GrpcClient> {
  const client = await startGrpcClient("grpc-go", {
    xdsPort: server.port,
    nodeId: "pay-1",
    channelCredentials: {
      type: "tls",
      config: {
        ca_certificate_file: `${directory}/ca.pem`,
        certificate_file: `${directory}/pay.crt`,
        private_key_file: `${directory}/pay.key`,
        refresh_interval: "1s",
      },
    },
  });
  await client.add("pay");
  return client;
}

/** Replaces the CA and every certificate, in the order in which nobody ever trusts less than there is. */
async function rotate(certificates: Certificates, server: XdsServer, clients: readonly LoadedClient[]): Promise<void> {
  const updates = async ({ envoy }: LoadedClient): Promise<number> =>
    (await envoy.stats())("cluster.xds.client_ssl_socket_factory.ssl_context_update_by_sds");
  const reloaded = async (change: () => void): Promise<void> => {
    const before = await Promise.all(clients.map(updates));
    change();
    await until({ says: "each Envoy has the files", withinMs: WITHIN_MS }, async () => {
      const now = await Promise.all(clients.map(updates));
      return now.every((count, index) => count > (before[index] ?? 0));
    });
  };
  const ended = (): Promise<number> => server.metric("xds_server_certificates_ended_total", { reason: "untrusted" });
  const endedBefore = await ended();
  let dropFormer = (): void => undefined;
  await reloaded(() => {
    dropFormer = certificates.addAuthority();
  });
  certificates.replaceServer();
  await reloaded(() => certificates.issueClients());
  // Nothing has ended so far: new certificates are for new connections.
  expect(await ended()).toBe(endedBefore);
  dropFormer();
  await until({ says: "each connection of before has ended", withinMs: WITHIN_MS }, async () => {
    return (await ended()) === endedBefore + clients.length + 1;
  });
  await until({ says: "each client is back", withinMs: WITHIN_MS }, async () => {
    const areBack = await Promise.all(clients.map(({ envoy }) => isConnected(envoy)));
    return areBack.every(Boolean) && (await server.metric("xds_server_streams_active")) === clients.length + 1;
  });
}

interface LogLine {
  readonly event?: string;
}

function linesOf(server: XdsServer): readonly LogLine[] {
  const lines = server.process().log().split("\n");
  return lines.flatMap((line) => (line.startsWith("{") && line.endsWith("}") ? [JSON.parse(line) as LogLine] : []));
}
