import { gzipSync } from "node:zlib";
import { type DeltaRequestMessage, encodeDeltaRequest, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { framed, uint32 } from "../../packages/server/test/support/http2-frames.ts";
import { ADS_DELTA, ADS_SOTW, CLUSTER, ENDPOINTS } from "../../packages/server/test/support/test-server.ts";
import { note } from "../e2e/support/measure.ts";
import { staticCluster } from "../e2e/support/resource.ts";
import { until } from "../e2e/support/wait.ts";
import { Attacker, answered, ended, openCall, send } from "./support/attacker.ts";
import { createScene, type Scene } from "./support/scene.ts";
import { type Attack, withstand } from "./support/withstand.ts";

const MB = 1024 * 1024;
const node = (id: string): typeof anonymousNode => ({ ...anonymousNode, id });
const names = (count: number, prefix = "name"): string[] => Array.from({ length: count }, (_, index) => prefix + index);
const delta = (message: Partial<DeltaRequestMessage>): Buffer =>
  framed(encodeDeltaRequest({ typeUrl: CLUSTER, ...message }));

/** 3.9 MB on the wire, and many times that as objects. */
const metadata = delta({ node: { ...node("heavy"), metadata: { list: Array(550_000).fill({}) } } });
/** 53 KB on the wire, and many times that as lists in lists. */
const lists = (id: string): Buffer => {
  let list: unknown[] = [];
  for (let depth = 1; depth < 40; depth++) list = [list];
  return delta({ node: { ...node(id), metadata: { lists: Array(300).fill(list) } } });
};
const listsOf = (streams: number, prefix: string): Buffer[] =>
  Array.from({ length: streams }, (_, index) => lists(prefix + index));
const bomb = ((): Buffer => {
  const zipped = gzipSync(Buffer.alloc(16 * MB));
  return Buffer.concat([Buffer.from([1]), uint32(zipped.byteLength), zipped]);
})();
/** A message of this many bytes without its last byte. */
const unfinished = (bytes: number): Buffer => Buffer.concat([Buffer.from([0]), uint32(bytes), Buffer.alloc(bytes - 1)]);

/** Sends each message on its own call, and waits until every call gets a response or ends. */
async function callWithEach(attacker: Attacker, messages: readonly Buffer[], metadataOf = {}): Promise<void> {
  const session = await attacker.session();
  const calls = messages.map((message) => {
    const call = openCall(session, ADS_DELTA, metadataOf);
    call.write(message);
    return call;
  });
  await Promise.all(calls.map(answered));
}

const attacks: readonly Attack[] = [
  {
    name: "metadata of 3.9 MB on many streams",
    round: (attacker) => callWithEach(attacker, Array(4).fill(metadata)),
    passes: ["maxNodeBytes"],
  },
  {
    name: "metadata of 53 KB on more streams than may keep it",
    round: (attacker) => callWithEach(attacker, listsOf(350, "lists")),
    holdsOn: true,
    passes: ["maxClientBytesPerPeer"],
  },
  {
    name: "metadata of 53 KB on 40 streams that reconnect",
    round: (attacker) => callWithEach(attacker, listsOf(40, "again")),
  },
  {
    name: "compressed messages that are a thousand times as large",
    round: (attacker) => callWithEach(attacker, Array(10).fill(bomb), { "grpc-encoding": "gzip" }),
    // A new round may come before the server let go of what the last one held.
    mayPass: ["maxReceivedBytesPerPeer"],
  },
  {
    name: "messages that are never finished",
    round: async (attacker) => {
      const session = await attacker.session();
      const message = unfinished(2 * MB);
      for (let at = 0; at < 20; at++) openCall(session, ADS_DELTA).write(message);
    },
    holdsOn: true,
    passes: ["maxReceivedBytesPerPeer", "maxMessageMs"],
  },
  {
    name: "messages that are not what they say",
    round: (attacker) => {
      const lies = [
        Buffer.from([2, 0, 0, 0, 1, 0]),
        Buffer.from([1, 0, 0, 0, 1, 0]),
        Buffer.from([0, 255, 255, 255, 255]),
        framed(Buffer.from([0xff, 0xff, 0xff])),
        framed(Buffer.from([0x08, ...Array<number>(11).fill(0xff)])),
        framed(Buffer.alloc(100_000, 0x4b)),
        framed(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])),
        framed(Buffer.from([0x02, 0x00])),
        framed(Buffer.from([0x12, 0x02, 0xff, 0xfe])),
      ];
      return callWithEach(attacker, lies);
    },
    passes: ["maxRequestBytes"],
  },
  {
    name: "200,000 names, then 500 small subscriptions",
    round: async (attacker) => {
      const session = await attacker.session();
      const call = openCall(session, ADS_DELTA);
      call.write(delta({ node: node("many"), typeUrl: ENDPOINTS, resourceNamesSubscribe: names(200_000) }));
      await answered(call);
      for (let at = 0; at < 500 && !call.destroyed; at++) {
        call.write(delta({ typeUrl: ENDPOINTS, resourceNamesSubscribe: [`further${at}`] }));
      }
      session.ping(() => session.destroy());
      await ended(call);
    },
  },
  {
    name: "more names than a stream may have",
    round: (attacker) =>
      callWithEach(attacker, [delta({ node: node("refused"), resourceNamesSubscribe: names(212_000) })]),
    passes: ["maxSubscriptionsPerStream"],
  },
  {
    name: "many types on a stream",
    round: async (attacker) => {
      const call = openCall(await attacker.session(), ADS_DELTA);
      call.write(delta({ node: node("types") }));
      for (let at = 0; at < 1_000; at++) call.write(delta({ typeUrl: `type.googleapis.com/a.Type${at}` }));
      await ended(call);
    },
    passes: ["maxTypesPerStream"],
  },
  {
    name: "versions of resources that there never were",
    round: (attacker) => {
      const held = new Map(names(50_000, "small-").map((name) => [name, "not a version"]));
      return callWithEach(attacker, [delta({ node: node("liar"), initialResourceVersions: held })]);
    },
  },
  {
    name: "reconnects with versions",
    round: async (attacker) => {
      const held = new Map(names(5_000, "small-").map((name) => [name, "1234567890abcdef"]));
      const message = delta({ node: node("returning"), initialResourceVersions: held });
      for (let at = 0; at < 20 && !attacker.isOver; at++) {
        await callWithEach(attacker, [message]);
        attacker.hangUp();
      }
    },
  },
  {
    name: "whoever refuses everything, and asks again at once",
    round: async (attacker) => {
      const call = openCall(await attacker.session(), ADS_DELTA);
      call.write(delta({ node: node("refusing") }));
      await answered(call);
      const again = { resourceNamesUnsubscribe: ["small-1"], resourceNamesSubscribe: ["small-1"] };
      for (let at = 0; at < 500 && !call.destroyed; at++) {
        call.write(delta({ responseNonce: `${at}`, errorDetail: { code: 3, message: "no" }, ...again }));
        await answered(call);
      }
    },
  },
  {
    name: "the same name again and again, and nothing acknowledged",
    round: async (attacker) => {
      const call = openCall(await attacker.session(), ADS_DELTA);
      call.write(delta({ node: node("silent"), resourceNamesSubscribe: ["small-1"] }));
      for (let at = 0; at < 3_000 && !call.destroyed; at++) {
        await send(call, delta({ resourceNamesSubscribe: ["small-1"] }));
      }
    },
  },
  {
    name: "everything, asked for by readers that take nothing",
    round: async (attacker) => {
      const session = await attacker.session({ initialWindowSize: 0 });
      for (let at = 0; at < 200; at++) {
        openCall(session, ADS_SOTW).write(framed(encodeSotwRequest({ node: node(`deaf${at}`), typeUrl: CLUSTER })));
      }
    },
    holdsOn: true,
    passes: ["maxBlockedMs"],
  },
  {
    name: "calls that ask and end at once",
    round: async (attacker) => {
      const session = await attacker.session();
      const message = framed(encodeSotwRequest({ node: node("brief"), typeUrl: CLUSTER, resourceNames: ["small-1"] }));
      for (let at = 0; at < 20; at++) {
        const calls = Array.from({ length: 20 }, () => openCall(session, ADS_SOTW));
        for (const call of calls) call.end(message);
        await Promise.all(calls.map(ended));
      }
    },
  },
];

/** Rules that read the metadata of every node. */
const rules = `groups:
  - { name: canary, match: { metadata: { stage: canary, lists: [a] } } }
  - { name: west, match: { metadata: { region: west, lists: [b] } } }
`;

let scene: Scene;
beforeAll(async () => {
  const clusters = Array.from({ length: 200 }, (_, index) => staticCluster(`small-${index}`, [1]));
  scene = await createScene({ files: { "small.json": clusters, "xdskit.yaml": rules } });
});
afterAll(() => scene[Symbol.asyncDispose]());

test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", (_, attack) => withstand(scene, attack));

test("the nodes of open streams take less memory than the server counts, and a client that behaves is served", async () => {
  const streams = 250;
  // The metadata that was decoded last is kept.
  await held(listsOf(1, "first"));
  const plain = await held(names(streams).map((id) => delta({ node: node(id) })));
  const heavy = await held(listsOf(streams, "held"));
  const counted = heavy.counted - plain.counted;
  const taken = heavy.bytes - plain.bytes;
  note("nodes of open streams", "server", "bytes counted and held", `${counted} ${taken}`);
  expect(counted).toBeGreaterThan(8 * MB);
  expect(taken).toBeLessThanOrEqual(counted);
});

/** What the server counts and holds for open streams with these first requests. */
async function held(messages: readonly Buffer[]): Promise<{ readonly counted: number; readonly bytes: number }> {
  const bytesBefore = await scene.heldBytes();
  const countedBefore = await clientBytes();
  const attacker = new Attacker(scene.nextHost(), scene.server.port);
  await callWithEach(attacker, messages);
  await scene.client.edit(1);
  const counted = (await clientBytes()) - countedBefore;
  const bytes = (await scene.heldBytes()) - bytesBefore;
  attacker.end();
  await until(
    { says: "its streams are closed", withinMs: 10_000 },
    async () => (await clientBytes()) === countedBefore,
  );
  return { counted, bytes };
}

const clientBytes = (): Promise<number> => scene.server.metric("xds_server_limit_used", { limit: "maxClientBytes" });
