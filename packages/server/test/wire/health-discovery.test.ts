import { afterEach, describe, expect, test } from "vitest";
import type { HealthChecker, HealthDiscovery } from "../../src/index.ts";
import { decoded, encoded } from "../support/messages.ts";
import { type RawCall, until, within } from "../support/raw-peer.ts";
import { type HttpVersion, httpVersions, restClient } from "../support/rest-client.ts";
import { startWorld, type World } from "../support/test-server.ts";

const MESSAGE = "envoy.service.health.v3.HealthCheckRequestOrEndpointHealthResponse";
const SPECIFIER = "envoy.service.health.v3.HealthCheckSpecifier";
const V2 = "/envoy.service.discovery.v2.HealthDiscoveryService";
const V3 = "/envoy.service.health.v3.HealthDiscoveryService";

let world: World;
afterEach(() => world.close());

const specifier = (interval: string): object => ({ clusterHealthChecks: [{ clusterName: "a" }], interval });
const address = { socketAddress: { address: "10.0.0.1", portValue: 80 } };
const found = {
  clusterEndpointsHealth: [
    {
      clusterName: "a",
      localityEndpointsHealth: [{ endpointsHealth: [{ endpoint: { address }, healthStatus: "UNHEALTHY" }] }],
    },
  ],
};

class Program implements HealthDiscovery {
  readonly heard: unknown[] = [];
  interval = "1s";

  specifierFor({ node, protocols }: HealthChecker): unknown {
    if (node.id === "bad") throw new Error("boom");
    return protocols.includes("HTTP") ? specifier(this.interval) : undefined;
  }

  onHealth(health: unknown, checker: HealthChecker | undefined): void {
    this.heard.push([checker?.node.id, health]);
  }
}

async function open(path: string): Promise<RawCall> {
  return (await world.connect()).open(path);
}

function offer(call: RawCall, id: string, protocols: readonly string[] = ["HTTP", "TCP"]): void {
  const healthCheckRequest = { node: { id }, capability: { healthCheckProtocols: protocols } };
  call.send(encoded(MESSAGE, { healthCheckRequest }));
}

function tell(call: RawCall): void {
  call.send(encoded(MESSAGE, { endpointHealthResponse: found }));
}

describe.each([
  ["v2", V2],
  ["v3", V3],
])("health discovery of %s", (_, service) => {
  test("B-HDS-01 a client offers itself, is told what to check, tells what it found, and is told what changed", async () => {
    const program = new Program();
    world = await startWorld({ healthDiscovery: program });
    const call = await open(`${service}/StreamHealthCheck`);
    offer(call, "checker");
    expect(decoded(SPECIFIER, await call.next())).toEqual(specifier("1s"));
    tell(call);
    await until("it was heard", () => program.heard.length === 1);
    expect(program.heard).toMatchObject([["checker", found]]);
    program.interval = "5s";
    tell(call);
    expect(decoded(SPECIFIER, await call.next())).toEqual(specifier("5s"));
    expect(call.waiting).toBe(0);
    call.end();
    expect(await within("the status", call.status)).toEqual({ code: 0, message: "" });
  });

  test("is fetched, too", async () => {
    world = await startWorld({ healthDiscovery: new Program() });
    const call = await open(`${service}/FetchHealthCheck`);
    offer(call, "checker");
    call.end();
    expect(decoded(SPECIFIER, await call.next())).toEqual(specifier("1s"));
  });

  test("is not served unless it is chosen", async () => {
    world = await startWorld();
    const call = await open(`${service}/StreamHealthCheck`);
    expect(await within("the status", call.status)).toMatchObject({ code: 12 });
  });
});

describe("a health check client", () => {
  test("that is not wanted, says nothing, or meets a program that throws, is sent away, and no other", async () => {
    const failures: unknown[] = [];
    world = await startWorld({ healthDiscovery: new Program() });
    world.server.on("listener-failed", ({ event, error }) => failures.push([event, String(error)]));
    const good = await open(`${V3}/StreamHealthCheck`);
    offer(good, "good");
    await good.next();
    const unwanted = await open(`${V3}/StreamHealthCheck`);
    offer(unwanted, "unwanted", ["REDIS"]);
    const silent = await open(`${V3}/StreamHealthCheck`);
    silent.send(new Uint8Array());
    const malformed = await open(`${V3}/StreamHealthCheck`);
    malformed.send(Buffer.from([0x0a, 0x09]));
    const bad = await open(`${V3}/StreamHealthCheck`);
    offer(bad, "bad");
    const codes = await Promise.all([unwanted, silent, malformed, bad].map(({ status }) => within("a status", status)));
    expect(codes.map(({ code }) => code)).toEqual([7, 3, 3, 2]);
    expect(failures).toEqual([["health-discovery", "Error: boom"]]);
    offer(good, "good");
    expect(decoded(SPECIFIER, await good.next())).toEqual(specifier("1s"));
  });

  test("that meets an async specifierFor is sent away, and the process goes on whatever it rejects with", async () => {
    const failures: unknown[] = [];
    const specifierFor = async ({ node }: HealthChecker): Promise<object> => {
      if (node.id === "bad") throw new Error("boom");
      return specifier("1s");
    };
    world = await startWorld({ healthDiscovery: { specifierFor, onHealth: () => undefined } });
    world.server.on("listener-failed", ({ event, error }) => failures.push([event, String(error)]));
    for (const id of ["good", "bad"]) {
      const call = await open(`${V3}/StreamHealthCheck`);
      offer(call, id);
      expect(await within("the status", call.status)).toMatchObject({ code: 2 });
    }
    const failure = "TypeError: specifierFor: expected a HealthCheckSpecifier, got a promise: it must not be async";
    expect(failures).toEqual([
      ["health-discovery", failure],
      ["health-discovery", failure],
    ]);
  });

  test("is sent away if its node is larger than the limit, or if those of its address are; one that leaves makes room", async () => {
    const hits: string[] = [];
    world = await startWorld({
      healthDiscovery: new Program(),
      limits: { maxNodeBytes: 2_000, maxClientBytesPerPeer: 2_000 },
    });
    world.server.on("limit-hit", ({ limit }) => hits.push(limit));
    const large = await open(`${V3}/StreamHealthCheck`);
    offer(large, "l".repeat(2_000));
    const first = await open(`${V3}/StreamHealthCheck`);
    offer(first, "f".repeat(1_000));
    await first.next();
    const second = await open(`${V3}/StreamHealthCheck`);
    offer(second, "s".repeat(1_000));
    const codes = await Promise.all([large, second].map(({ status }) => within("a status", status)));
    expect([codes.map(({ code }) => code), hits]).toEqual([
      [8, 8],
      ["maxNodeBytes", "maxClientBytesPerPeer"],
    ]);
    first.end();
    await within("the end", first.status);
    const third = await open(`${V3}/StreamHealthCheck`);
    offer(third, "t".repeat(1_000));
    expect(decoded(SPECIFIER, await third.next())).toEqual(specifier("1s"));
  });
});

describe.each(httpVersions.flatMap((http) => (["v2", "v3"] as const).map((api) => [http, api] as const)))(
  "health discovery over REST on %s, %s",
  (http, api) => {
    test("B-HDS-01 a request is answered with what to check, and what was found is heard", async () => {
      const program = new Program();
      world = await startWorld({ healthDiscovery: program });
      const healthCheckRequest = { node: { id: "poller" }, capability: { health_check_protocols: ["HTTP"] } };
      expect(await post(http, api, { healthCheckRequest })).toEqual([200, specifier("1s")]);
      expect(await post(http, api, { endpoint_health_response: found })).toEqual([200, {}]);
      expect(program.heard).toMatchObject([[undefined, found]]);
    });

    test("a request that makes no sense, or is not wanted, is told so", async () => {
      world = await startWorld({ healthDiscovery: new Program() });
      const healthCheckRequest = { node: { id: "poller" }, capability: { healthCheckProtocols: ["REDIS"] } };
      expect([
        await post(http, api, { healthCheckRequest }),
        await post(http, api, ""),
        await post(http, api, "{"),
        await post(http, api, { healthCheckRequest: 1 }),
      ]).toEqual([
        [403, { code: 7, message: "nothing is to be checked by this node" }],
        [400, { code: 3, message: "expected a health check request or what was found, got neither" }],
        [400, { code: 3, message: expect.stringContaining("not JSON") }],
        [400, { code: 3, message: expect.stringContaining("healthCheckRequest: expected") }],
      ]);
    });

    test("is not served unless it is chosen", async () => {
      world = await startWorld();
      expect(await post(http, api, {})).toMatchObject([404, { code: 5 }]);
    });
  },
);

async function post(http: HttpVersion, api: "v2" | "v3", body: unknown): Promise<readonly [number, unknown]> {
  const client = restClient(http, world.address);
  const { status, bytes } = await client.send({ path: `/${api}/discovery:health_check`, body });
  await client.close();
  return [status, JSON.parse(bytes.toString())];
}
