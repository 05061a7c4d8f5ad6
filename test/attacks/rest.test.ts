import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, test } from "vitest";
import { staticCluster } from "../e2e/support/resource.ts";
import { type Attacker, breath } from "./support/attacker.ts";
import { createScene, type Scene } from "./support/scene.ts";
import { type Attack, withstand } from "./support/withstand.ts";

const PATH = "/v3/discovery:clusters";
const HEAD = `POST ${PATH} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;

/** Opens sockets that each send a beginning and then nothing. */
async function beginMany(attacker: Attacker, count: number, beginning: string | Uint8Array): Promise<void> {
  for (let at = 0; at < count; at++) (await attacker.socket()).write(beginning);
}

/** Sends one poll on its own connection; resolves when the response ends or fails. */
async function poll({ host, port }: Pick<Attacker, "host" | "port">, body: string): Promise<void> {
  const sent = request({ host: "127.0.0.1", port, localAddress: host, path: PATH, method: "POST", agent: false });
  sent.setHeader("content-type", "application/json");
  sent.on("response", (response) => response.on("error", () => undefined).resume());
  sent.end(body);
  await once(sent, "close").catch(() => undefined);
}

const smuggled: readonly string[] = [
  `${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nhost: a\r\n\r\n`,
  `${HEAD}content-length: 5\r\ncontent-length: 6\r\n\r\n{}   GET / HTTP/1.1\r\n\r\n`,
  `${HEAD}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`,
  `${HEAD}transfer-encoding : chunked\r\n\r\n0\r\n\r\n`,
  `${HEAD}content-length: +2\r\n\r\n{}`,
  `${HEAD}content-length: 2\n\n{}`,
];

const attacks: readonly Attack[] = [
  {
    name: "polls with metadata of 180 KB that come once",
    round: async (attacker) => {
      const list = `[${Array(60_000).fill("{}").join(",")}]`;
      for (let at = 0; at < 20 && !attacker.isOver; at++) {
        await poll(attacker, `{"node":{"id":"p${at}","metadata":{"list":${list}}}}`);
      }
    },
    passes: ["maxNodeBytes"],
  },
  {
    name: "polls that come once, each from a new node",
    round: async (attacker) => {
      const metadata = "m".repeat(1_000);
      for (let at = 0; at < 20 && !attacker.isOver; at++) {
        await poll(attacker, `{"node":{"id":"${at}","metadata":{"text":"${metadata}"}},"resource_names":["small-1"]}`);
      }
    },
    mayPass: ["maxPollerBytesPerPeer"],
  },
  {
    name: "polls with metadata of 60 KB that takes twenty times as much, each from a new node",
    round: async (attacker) => {
      const list = `[${Array(20_000).fill("{}").join(",")}]`;
      for (let at = 0; at < 20 && !attacker.isOver; at++) {
        await poll(attacker, `{"node":{"id":"${at}","metadata":{"list":${list}}},"resource_names":["small-1"]}`);
      }
    },
    passes: ["maxPollerBytesPerPeer"],
  },
  {
    name: "bodies that are never finished",
    round: async (attacker) => {
      const body = Buffer.alloc(3 * 1024 * 1024, " ");
      for (let at = 0; at < 12; at++) {
        const socket = await attacker.socket();
        socket.write(`${HEAD}content-length: ${body.byteLength + 1}\r\n\r\n`);
        socket.write(body);
      }
    },
    holdsOn: true,
    passes: ["maxReceivedBytesPerPeer"],
  },
  {
    name: "two requests in the place of one",
    round: async (attacker) => {
      for (const text of smuggled) (await attacker.socket()).write(text);
      await breath();
    },
  },
  {
    name: "headers that never end",
    round: (attacker) => beginMany(attacker, 200, `POST ${PATH} HTTP/1.1\r\nhost: a\r\n`),
    holdsOn: true,
  },
  {
    name: "bodies that hardly begin",
    round: (attacker) => beginMany(attacker, 200, `${HEAD}content-length: 1000000\r\n\r\n{`),
    holdsOn: true,
  },
  {
    name: "connections that say nothing",
    round: (attacker) => beginMany(attacker, 200, ""),
    holdsOn: true,
    passes: ["connection-refused"],
  },
  {
    name: "connections that say what is no protocol",
    round: (attacker) => beginMany(attacker, 50, Buffer.from([0, 1, 2, 3, 4, 5])),
    passes: ["connection-refused"],
  },
  {
    name: "more connections than an address may have",
    round: (attacker) => beginMany(attacker, 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    holdsOn: true,
    passes: ["maxConnectionsPerPeer"],
  },
];

let scene: Scene;
beforeAll(async () => {
  scene = await createScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", (_, attack) => withstand(scene, attack));

const CLUSTERS = 5_000;

/** Each poll is for another half of the Clusters, so no response is that of another poll. */
const differentHalves: Attack = {
  name: "polls for thousands of names, each for others",
  round: async (attacker) => {
    const half = (from: number): readonly string[] =>
      Array.from({ length: CLUSTERS / 2 }, (_, at) => `large-${(2 * at + from) % CLUSTERS}`);
    const line = async (first: number): Promise<void> => {
      for (let at = 0; at < 10 && !attacker.isOver; at++) {
        const names = [...half(13 * (first + at)), `none-${first + at}`];
        await poll(attacker, JSON.stringify({ node: { id: "a" }, resource_names: names }));
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, at) => line(10 * at)));
  },
  passes: ["maxPollerBytesPerPeer"],
};

test(differentHalves.name, async () => {
  const clusters = Array.from({ length: CLUSTERS }, (_, at) =>
    staticCluster(`large-${at}`, [1], { alt_stat_name: "s".repeat(500) }),
  );
  await using large = await createScene({ files: { "large.json": clusters } });
  // The text of each Cluster is kept with it from the first poll on.
  await poll({ host: large.nextHost(), port: large.server.port }, JSON.stringify({ node: { id: "first" } }));
  await withstand(large, differentHalves);
});
