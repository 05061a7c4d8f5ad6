import type { Limits } from "@xdskit/server";
import { afterEach, expect, test } from "vitest";
import { within } from "../support/raw-peer.ts";
import { httpVersions, type RestClient, restClient } from "../support/rest-client.ts";
import { ADS_DELTA, CLUSTER, deltaRequest, node, startWorld, type World } from "../support/test-server.ts";

const CDS = "/v3/discovery:clusters";
const PUSHBACK = "grpc-retry-pushback-ms";

let world: World;
let client: RestClient | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
  await world.close();
});

async function startLimited(limits: Partial<Limits>): Promise<void> {
  world = await startWorld({ limits });
}

test.each(["maxStreams", "maxStreamsPerPeer"] as const)(
  "%s: a stream that is one too many is told after how many milliseconds to come again",
  async (limit) => {
    await startLimited({ [limit]: 1 });
    const peer = await world.connect();
    const first = peer.open(ADS_DELTA);
    first.send(deltaRequest(CLUSTER));
    await first.next();
    const headers = await within("the refusal", peer.open(ADS_DELTA).headers);
    const hint = Number(headers[PUSHBACK]);
    expect([headers["grpc-status"], hint >= 1_000 && hint <= 3_000]).toEqual(["8", true]);
  },
);

test.each(httpVersions)(
  "maxStreams: a poll over %s that is one too many is 429, with no time to come again",
  async (version) => {
    await startLimited({ maxStreams: 1 });
    const call = (await world.connect()).open(ADS_DELTA);
    call.send(deltaRequest(CLUSTER));
    await call.next();
    client = restClient(version, world.address);
    const { status, headers } = await within("the refusal", client.send({ path: CDS, body: { node } }));
    expect([status, headers["retry-after"]]).toEqual([429, undefined]);
  },
);

test.each(httpVersions)("a poll over %s before anything is in force is 503 with Retry-After", async (version) => {
  world = await startWorld({}, []);
  client = restClient(version, world.address);
  const { status, headers } = await within("the refusal", client.send({ path: CDS, body: { node } }));
  expect([status, ["1", "2", "3"].includes(String(headers["retry-after"]))]).toEqual([503, true]);
});
