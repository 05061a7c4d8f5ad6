import { connect } from "node:net";
import { decodeSotwResponse } from "@xdskit/envoy-api";
import { afterEach, expect, test } from "vitest";
import { until } from "../support/raw-peer.ts";
import {
  ADS_SOTW,
  CLUSTER,
  cluster,
  countStreams,
  put,
  sotwRequest,
  startWorld,
  type World,
} from "../support/test-server.ts";

let world: World;
afterEach(() => world.close());

/** One HTTP/2 frame. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.byteLength, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header as it is, without a table. */
function header(name: string, value: string): Buffer {
  const length = value.length < 127 ? [value.length] : [127, value.length - 127];
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from(length), Buffer.from(value)]);
}

const headers = Buffer.concat([
  header(":method", "POST"),
  header(":scheme", "http"),
  header(":path", ADS_SOTW),
  header(":authority", "x"),
  header("content-type", "application/grpc"),
]);
const request = sotwRequest(CLUSTER);
const message = Buffer.concat([Buffer.from([0, 0, 0, 0, request.byteLength]), request]);
const cancel = Buffer.from([0, 0, 0, 8]);

/** A connection with three calls: one goes on, one is cancelled, one half-closes. */
const conversation = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame(4, 0, 0, Buffer.alloc(0)),
  ...[1, 3, 5].flatMap((stream) => [frame(1, 4, stream, headers), frame(0, 0, stream, message)]),
  frame(3, 0, 3, cancel),
  frame(0, 1, 5, Buffer.alloc(0)),
]);

test("connections that break at any byte, in any way, leave nothing behind and hurt nobody", async () => {
  world = await startWorld();
  const streams = countStreams(world.server);
  let connections = 0;
  world.server.on("connection-opened", () => {
    connections++;
  });
  world.server.on("connection-closed", () => {
    connections--;
  });
  const broken: unknown[] = [];
  world.server.on("invariant-broken", (event) => broken.push(event));
  const steady = (await world.connect()).open(ADS_SOTW);
  steady.send(sotwRequest(CLUSTER));
  const { nonce, versionInfo } = decodeSotwResponse(await steady.next());
  steady.send(sotwRequest(CLUSTER, [], nonce, versionInfo));

  const ways = ["reset", "close", "reset after an answer"] as const;
  const cuts = Array.from({ length: conversation.byteLength + 1 }, (_, i) => i);
  let over = 0;
  for (const cut of cuts) {
    const way = ways[cut % ways.length];
    const socket = connect({ ...world.address, noDelay: true });
    socket.on("error", () => undefined);
    socket.once("close", () => {
      over++;
    });
    socket.once("connect", () => {
      socket.write(conversation.subarray(0, cut), () => {
        if (way === "close") socket.end();
        else if (way === "reset") socket.resetAndDestroy();
        else setTimeout(() => socket.resetAndDestroy(), cut % 20);
      });
    });
    socket.resume();
    if (cut % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await until("all are over", () => over === cuts.length, 15_000);
  await until("only the steady one is left", () => connections === 1 && streams.open === 1, 15_000);
  world.server.commit(put(cluster("b")));
  expect(decodeSotwResponse(await steady.next()).resources).toHaveLength(2);
  expect(streams.opened).toBeGreaterThan(100);
  expect(broken).toEqual([]);
});
