import { once } from "node:events";
import { connect, Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { callHeaders, END_HEADERS, frame, framed, frameType, PREFACE } from "../support/http2-frames.ts";
import { describeFrame, readFrames } from "../support/machine-run.ts";
import { until } from "../support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, sotwRequest, startWorld, type World } from "../support/test-server.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld({ http2: "builtin" });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
});

test("settings, their acknowledgement and the first answer leave in one write", async () => {
  const socket = connect({ ...world.address, noDelay: true });
  await once(socket, "connect");
  const write = vi.spyOn(Socket.prototype, "write");
  let received = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
  });
  socket.write(
    Buffer.concat([
      PREFACE,
      frame(frameType.settings, 0, 0),
      frame(frameType.headers, END_HEADERS, 1, callHeaders(ADS_SOTW)),
      frame(frameType.data, 0, 1, framed(sotwRequest(CLUSTER))),
    ]),
  );
  await until("the first answer", () => readFrames(received).some(({ type }) => type === frameType.data));
  const written = write.mock.contexts.filter((one) => one !== socket);
  socket.destroy();
  expect({ writes: written.length, frames: readFrames(received).map(describeFrame) }).toEqual({
    writes: 1,
    frames: [
      "SETTINGS 0 18 bytes",
      "WINDOW_UPDATE 0 983041",
      "SETTINGS 0 0 bytes ACK",
      "HEADERS 1 65 bytes",
      "DATA 1 152 bytes",
    ],
  });
});
