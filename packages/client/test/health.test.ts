import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { HealthChecker as Asking, HealthDiscovery } from "@xdskit/server";
import { describe, expect, test } from "vitest";
import { checkTcp, type HealthCheckers, type HealthTarget, type XdsClient } from "../src/index.ts";
import { atEnd } from "./support/ends.ts";
import { bootstrap, type Served, serveWith, start } from "./support/own-server.ts";
import { until } from "./support/until.ts";

/** What a management server wants checked, and what it hears. */
class Program implements HealthDiscovery {
  readonly heard: unknown[] = [];
  readonly offers: unknown[] = [];
  specifier: object = {};

  specifierFor({ node, protocols }: Asking): unknown {
    this.offers.push([node.id, protocols]);
    return this.specifier;
  }

  onHealth(health: unknown): void {
    this.heard.push(health);
  }
}

const serve = (healthDiscovery: Program, port = 0): Promise<Served> => serveWith({ listen: { port }, healthDiscovery });

const startAt = (server: string): Promise<XdsClient> => start({ server, node: "checker" });

/** A TCP server that answers what it gets, upside down. */
async function echo(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => socket.write(Buffer.from(bytes).reverse()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => server.close());
  return { port: (server.address() as AddressInfo).port, server };
}

const endpointAt = (portValue: number): object => ({ address: { socketAddress: { address: "127.0.0.1", portValue } } });
const tcp = { timeout: "1s", interval: "0.100s", unhealthyThreshold: 1, healthyThreshold: 1, tcpHealthCheck: {} };

function specifier(healthChecks: readonly object[], ...endpoints: readonly object[]): object {
  const localityEndpoints = [{ locality: { region: "eu" }, endpoints }];
  return { clusterHealthChecks: [{ clusterName: "a", healthChecks, localityEndpoints }], interval: "0.100s" };
}

function found(...endpointsHealth: readonly object[]): object {
  const localityEndpointsHealth = [{ locality: { region: "eu" }, endpointsHealth }];
  return { clusterEndpointsHealth: [{ clusterName: "a", localityEndpointsHealth }] };
}

const health = (endpoint: object, healthStatus: string): object => ({ endpoint, healthStatus });

/** What is heard of these checks and endpoints, when the last of so many is there. */
async function hear(asked: object, statuses: number, checkers?: HealthCheckers): Promise<unknown> {
  const program = new Program();
  program.specifier = asked;
  const { address } = await serve(program);
  (await startAt(address)).checkHealth(checkers === undefined ? {} : { checkers });
  const found = (): number => JSON.stringify(program.heard.at(-1) ?? {}).split("healthStatus").length - 1;
  await until("something was found", () => program.heard.length > 0 && found() === statuses);
  return program.heard.at(-1);
}

test("B-HDS-01 it offers itself, is told what to check, tells what it finds, round by round, and what changes", async () => {
  const { port, server } = await echo();
  const program = new Program();
  program.specifier = specifier([tcp], endpointAt(port));
  const { address } = await serve(program);
  const checking = (await startAt(address)).checkHealth();
  const isFound = (status: string): boolean => JSON.stringify(program.heard.at(-1) ?? "").includes(`"${status}"`);
  await until("it was found", () => isFound("HEALTHY"));
  expect(program.offers[0]).toEqual(["checker", ["TCP"]]);
  expect(program.heard.at(-1)).toMatchObject(found(health(endpointAt(port), "HEALTHY")));
  server.close();
  await until("it is found to be gone", () => isFound("UNHEALTHY"));
  expect(program.heard.at(-1)).toMatchObject(found(health(endpointAt(port), "UNHEALTHY")));
  program.specifier = specifier([tcp], endpointAt(1));
  const isOther = (heard: unknown): boolean => JSON.stringify(heard).includes('"portValue":1}');
  await until("the other one is heard of", () => isOther(program.heard.at(-1)));
  const since = program.heard.length;
  await until("it is heard of again", () => program.heard.length > since + 3);
  expect(program.heard.slice(since).map(isOther)).not.toContain(false);
  checking.close();
});

test("B-HDS-01 in v2 it is one list", async () => {
  const { port } = await echo();
  const program = new Program();
  program.specifier = specifier([tcp], endpointAt(port), endpointAt(1));
  const { address } = await serve(program);
  (await startAt(address)).checkHealth({ apiVersion: "v2" });
  const healths = { endpointsHealth: [health(endpointAt(port), "HEALTHY"), health(endpointAt(1), "UNHEALTHY")] };
  await until("both were found", () => JSON.stringify(program.heard.at(-1) ?? "").includes("UNHEALTHY"));
  await until("both were found", () => JSON.stringify(program.heard.at(-1) ?? "").includes('"HEALTHY"'));
  expect(program.heard.at(-1)).toMatchObject(healths);
});

describe("checkers", () => {
  test("are the program's, for each protocol; an endpoint is what the worst of its checks says", async () => {
    const http = { ...tcp, tcpHealthCheck: undefined, httpHealthCheck: { path: "/" } };
    const redis = { ...http, httpHealthCheck: undefined, customHealthCheck: { name: "envoy.health_checkers.redis" } };
    const slow = { ...tcp, timeout: "0.050s" };
    const endpoints = [1, 2, 3, 4, 5].map(endpointAt);
    const seen: HealthTarget[] = [];
    const checkers: HealthCheckers = {
      TCP: (target, signal) => {
        seen.push(target);
        if (target.port === 2) throw new Error("no");
        if (target.port === 3) return new Promise((resolve) => signal.addEventListener("abort", () => resolve(true)));
        return true;
      },
      HTTP: async ({ port }) => port !== 4,
    };
    const statuses = ["HEALTHY", "UNHEALTHY", "TIMEOUT", "UNHEALTHY", "HEALTHY"];
    expect(await hear(specifier([slow, http], ...endpoints), 5, checkers)).toMatchObject(
      found(...endpoints.map((endpoint, place) => health(endpoint, statuses[place] ?? ""))),
    );
    expect(seen[0]).toMatchObject({ cluster: "a", host: "127.0.0.1", port: 1, protocol: "TCP" });
    // What nobody can check is unknown, which is what is not said.
    const unknown = await hear(specifier([slow, redis], endpointAt(1)), 0, { TCP: () => true });
    expect(unknown).toMatchObject(found({ endpoint: endpointAt(1) }));
    expect(JSON.stringify(unknown)).not.toContain("healthStatus");
  });

  test("checkTcp sends what is to be sent, and waits for what is to be answered", async () => {
    const { port } = await echo();
    const target = (receive: string, at = port): HealthTarget => ({
      ...{ cluster: "a", host: "127.0.0.1", port: at, protocol: "TCP", endpoint: {} },
      check: { tcpHealthCheck: { send: { text: "616263" }, receive: [{ binary: receive }] } },
    });
    const signal = AbortSignal.timeout(5_000);
    expect(await checkTcp(target(Buffer.from("cba").toString("base64")), signal)).toBe(true);
    expect(await checkTcp(target("", 1), signal)).toBe(false);
    const waiting = checkTcp(target(Buffer.from("abc").toString("base64")), AbortSignal.timeout(50));
    expect(await waiting).toBe(false);
    await expect(checkTcp(target(""), AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
  });
});

test("B-HDS-01 C-REC-02 a server that goes and comes back gets the offer again; nothing is checked meanwhile", async () => {
  const program = new Program();
  program.specifier = specifier([tcp], endpointAt(1));
  const first = await serve(program);
  const client = await startAt(first.address);
  const statuses: number[] = [];
  let checks = 0;
  const TCP = (): boolean => ++checks > 0;
  const checking = client.checkHealth({ checkers: { TCP }, onEnd: ({ code }) => void statuses.push(code) });
  await until("it was found", () => program.heard.length > 0);
  await first.server.close();
  await until("the end is told, twice", () => statuses.length > 1);
  const before = checks;
  await until("it was tried again", () => statuses.length > 3);
  expect(checks).toBe(before);
  const again = new Program();
  again.specifier = program.specifier;
  await serve(again, first.port);
  await until("it was found again", () => again.heard.length > 0);
  expect(again.offers[0]).toEqual(["checker", ["TCP"]]);
  checking.close();
  await client.close();
  expect(() => client.checkHealth()).toThrow(expect.objectContaining({ code: "CLOSED" }));
});

test("who closes it when it is told of an end is asked for nothing any more", async () => {
  const client = await startAt("127.0.0.1:1");
  let ends = 0;
  const ended = new Promise<void>((resolve) => {
    const checking = client.checkHealth({
      onEnd: () => {
        ends++;
        checking.close();
        resolve();
      },
    });
  });
  await ended;
  const other = new Promise<void>((resolve) => {
    const told: number[] = [];
    client.checkHealth({ onEnd: ({ code }) => void (told.push(code) > 3 && resolve()) });
  });
  await other;
  expect(ends).toBe(1);
});

test("an Envoy checks for the server of its hds_config", async () => {
  const program = new Program();
  const { port } = await serve(program);
  const source = (cluster_name: string): object => ({
    ...{ api_type: "GRPC", transport_api_version: "V3" },
    grpc_services: [{ envoy_grpc: { cluster_name } }],
  });
  const boot = {
    ...bootstrap(port, { cds_config: { ads: {} }, ads_config: source("dead") }),
    hds_config: source("live"),
  };
  const client = await start({ bootstrap: boot });
  client.checkHealth();
  await until("it offered itself", () => program.offers.length > 0);
  expect(program.offers).toEqual([["test", ["TCP"]]]);
});
