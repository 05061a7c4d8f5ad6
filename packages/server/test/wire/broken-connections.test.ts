import { connect } from "node:net";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { afterEach, expect, test } from "vitest";
import { callFrames, END_STREAM, frame, frameType, PREFACE, uint32 } from "../support/http2-frames.ts";
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

const cancel = uint32(8);

/** A connection with three calls: one goes on, one is cancelled, one half-closes. */
const conversation = Buffer.concat([
  PREFACE,
  frame(frameType.settings, 0, 0),
  ...[1, 3, 5].map((stream) => callFrames(stream, ADS_SOTW, sotwRequest(CLUSTER))),
  frame(frameType.reset, 0, 3, cancel),
  frame(frameType.data, END_STREAM, 5),
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
