import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, test } from "vitest";
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
async function poll({ host, port }: Attacker, body: string): Promise<void> {
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
