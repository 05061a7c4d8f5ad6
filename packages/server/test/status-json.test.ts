import { anonymousNode, type Peer } from "@xdskit/protocol";
import { defaultAccess, type ResourceState, type StreamState, statusCode } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { createDeliveryTimes } from "../src/observe/deliveries.ts";
import { createTelemetry } from "../src/observe/telemetry.ts";
import { ClientStatus } from "../src/status/client-status.ts";
import { answerClientStatusJson } from "../src/status/json.ts";
import { CLUSTER, cluster, testApi } from "./support/test-server.ts";

const peer: Peer = { address: "127.0.0.1:4000", isLoopback: true, isTls: false, names: [] };
const elsewhere: Peer = { ...peer, address: "10.0.0.9:4000", isLoopback: false };
const proven: Peer = { ...elsewhere, isTls: true, names: ["ops.example"] };

function statusOf(access: "loopback" | "certificate" | "everybody", states?: readonly ResourceState[]): ClientStatus {
  const streams = ["one", "two"].map((id, stream): StreamState => {
    const stated = { variant: "delta", onlyType: undefined, apiVersion: "v3", layers: [], types: [] } as const;
    const common = { ...stated, dialect: undefined };
    return { ...common, stream, peer, node: { ...anonymousNode, id }, client: id };
  });
  const held: ResourceState = {
    type: CLUSTER,
    kind: "cds",
    name: "a",
    status: "acked",
    resource: cluster("a"),
    nonce: undefined,
    error: undefined,
    isSent: true,
  };
  const policy = defaultAccess({ isSecret: () => false, statusReaders: access });
  return new ClientStatus({
    api: testApi(),
    maxBytes: 1_000_000,
    admit(from) {
      const granted = policy.grant({ entryPoint: "csds", peer: from, node: undefined }, []);
      return "denied" in granted ? { code: statusCode.PERMISSION_DENIED, message: granted.told ?? "" } : granted;
    },
    view: {
      streams: () => streams,
      resourceStates: () => states ?? [held],
      layersOf: () => ["base"],
      layerHolding: () => "base",
      grantOf: (claim) => policy.grant(claim, ["base"]),
    },
    times: createDeliveryTimes(createTelemetry()),
  });
}

const ask = (body: unknown, from = peer, access: "loopback" | "certificate" | "everybody" = "loopback"): unknown =>
  answerClientStatusJson(statusOf(access), testApi(), "v3", body, from);

test("S-CSD-01 over REST: names in either spelling, the answer in canonical JSON", async () => {
  const xdsConfig = { "@type": CLUSTER, name: "a" };
  const versionInfo = cluster("a").version;
  const config = { typeUrl: CLUSTER, name: "a", versionInfo, xdsConfig, configStatus: "SYNCED", clientStatus: "ACKED" };
  const answer = { config: [{ node: { id: "one" }, genericXdsConfigs: [config], clientScope: "127.0.0.1:4000" }] };
  for (const body of [
    { nodeMatchers: [{ nodeId: { exact: "one" } }] },
    { node_matchers: [{ node_id: { exact: "one" } }] },
  ]) {
    expect(await ask(body)).toEqual({ text: `${JSON.stringify(answer)}\n` });
  }
  expect(await ask({ nodeMatchers: [{ nodeId: { exact: "none" } }] })).toEqual({ text: "{}\n" });
});

test("a body that is no request is refused, with its place", async () => {
  expect(await ask({ nodeMatchers: "all" })).toMatchObject({
    code: 3,
    message: /^the request is malformed: nodeMatchers: /,
  });
});

test.each([
  ["loopback", [true, false, false]],
  ["certificate", [true, false, true]],
  ["everybody", [true, true, true]],
] as const)("with %s set, it is told to whom it may be told", async (access, wanted) => {
  const answers = [peer, elsewhere, proven].map((from) => ask({}, from, access));
  expect((await Promise.all(answers)).map((answer) => Object.hasOwn(Object(answer), "text"))).toEqual(wanted);
});

describe("the JSON of many resources is made in turns", () => {
  const statuses = ["acked", "pending", "not-sent", "nacked", "does-not-exist"] as const;
  const kinds = ["cds", "eds", "lds", "rds"] as const;
  const states = Array.from({ length: 777 }, (_, i): ResourceState => {
    const status = statuses[i < 700 ? 0 : i % 5] ?? "acked";
    const resource = status === "does-not-exist" ? undefined : cluster(`c${i}`);
    const error = status === "nacked" ? { code: 3, message: "no good" } : undefined;
    const kind = kinds[i % 4] ?? "cds";
    return { type: CLUSTER, kind, name: `c${i}`, status, resource, nonce: undefined, error, isSent: true };
  });

  test.each(["v2", "v3"] as const)("and is that of one message, in %s", async (version) => {
    const status = statusOf("loopback", states);
    const whole = await status.answer(version, new Uint8Array(0), peer);
    if ("code" in whole) throw new Error(whole.message);
    const type = "type.googleapis.com/envoy.service.status.v3.ClientStatusResponse";
    const { text } = Object(await answerClientStatusJson(status, testApi(), version, {}, peer)) as { text: string };
    expect({ "@type": type, ...(JSON.parse(text) as object) }).toEqual(
      testApi().toJson(type, Buffer.concat(whole.pieces)),
    );
  });

  test("of fifty resources at most", async () => {
    const madeIn = new Map<number, number>();
    let turn = 0;
    const next = (): void => {
      turn++;
      if (!isOver) setImmediate(next);
    };
    let isOver = false;
    next();
    const api = testApi();
    const counted: Pick<typeof api, "readMessage" | "toJson"> = {
      readMessage: (...args) => api.readMessage(...args),
      toJson(...args) {
        const json = api.toJson(...args) as { config: readonly [{ genericXdsConfigs: readonly unknown[] }] };
        madeIn.set(turn, (madeIn.get(turn) ?? 0) + json.config[0].genericXdsConfigs.length);
        return json;
      },
    };
    await answerClientStatusJson(statusOf("loopback", states), counted, "v3", {}, peer);
    isOver = true;
    const made = [...madeIn.values()];
    expect([Math.max(...made), made.reduce((a, b) => a + b)]).toEqual([50, 2 * 777]);
  });
});
