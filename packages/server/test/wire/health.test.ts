import { afterEach, describe, expect, test } from "vitest";
import { within } from "../support/raw-peer.ts";
import { cluster, put, startWorld, type World } from "../support/test-server.ts";

const SERVING = Buffer.from([8, 1]);
const NOT_SERVING = Buffer.from([8, 2]);
const SERVICE_UNKNOWN = Buffer.from([8, 3]);
const ADS = "envoy.service.discovery.v3.AggregatedDiscoveryService";

let world: World;
afterEach(() => world.close());

const ask = (service: string): Buffer =>
  service === "" ? Buffer.alloc(0) : Buffer.concat([Buffer.from([10, service.length]), Buffer.from(service)]);

async function check(service: string): Promise<{ answer: Uint8Array | undefined; code: number }> {
  const call = (await world.connect()).open("/grpc.health.v1.Health/Check");
  call.send(ask(service));
  call.end();
  const { code } = await within("the status", call.status);
  return { answer: call.waiting > 0 ? await call.next() : undefined, code };
}

describe("grpc.health.v1", () => {
  test.each(["", ADS, "grpc.health.v1.Health"])(
    'Check of "%s" is SERVING once there is something to serve',
    async (service) => {
      world = await startWorld({}, []);
      expect(await check(service)).toEqual({ answer: NOT_SERVING, code: 0 });
      world.server.commit(put(cluster("a")));
      expect(await check(service)).toEqual({ answer: SERVING, code: 0 });
    },
  );

  test("Check of a service that is not served is NOT_FOUND", async () => {
    world = await startWorld();
    expect(await check("no.such.Service")).toEqual({ answer: undefined, code: 5 });
  });

  test.each([
    ["malformed", "Check", Buffer.from([10, 200])],
    ["malformed", "Watch", Buffer.from([10, 200])],
    ["too long", "Check", Buffer.alloc(17 * 1024, Buffer.from([8, 0]))],
    ["too long", "Watch", Buffer.alloc(17 * 1024, Buffer.from([8, 0]))],
  ])("a %s %s is INVALID_ARGUMENT, and no fault of the server", async (_, method, request) => {
    world = await startWorld();
    const faults: unknown[] = [];
    world.server.on("invariant-broken", (fault) => faults.push(fault));
    const call = (await world.connect()).open(`/grpc.health.v1.Health/${method}`);
    call.send(request);
    expect((await within("the status", call.status)).code).toBe(3);
    expect(faults).toEqual([]);
  });

  test("Watch tells every change, to the end", async () => {
    world = await startWorld({}, []);
    const peer = await world.connect();
    const call = peer.open("/grpc.health.v1.Health/Watch");
    call.send(ask(ADS));
    call.end();
    expect(await call.next()).toEqual(NOT_SERVING);
    world.server.commit(put(cluster("a")));
    expect(await call.next()).toEqual(SERVING);
    const drained = world.server.drain({ graceMs: 0 });
    expect(await call.next()).toEqual(NOT_SERVING);
    await within("the drain", drained);
  });

  test("Watch of an unknown service says so and waits", async () => {
    world = await startWorld();
    const call = (await world.connect()).open("/grpc.health.v1.Health/Watch");
    call.send(ask("no.such.Service"));
    expect(await call.next()).toEqual(SERVICE_UNKNOWN);
  });

  test("List names the services", async () => {
    world = await startWorld();
    const call = (await world.connect()).open("/grpc.health.v1.Health/List");
    call.send(Buffer.alloc(0));
    call.end();
    expect(Buffer.from(await call.next()).toString("latin1")).toContain(ADS);
  });
});
