import { afterAll, beforeAll, test } from "vitest";
import {
  callHeaders,
  END_HEADERS,
  END_STREAM,
  frame,
  framed,
  frameType,
  headerBlock,
  uint32,
} from "../../packages/server/test/support/http2-frames.ts";
import { ADS_DELTA, ADS_SOTW, CLUSTER, sotwRequest } from "../../packages/server/test/support/test-server.ts";
import { type Attacker, breath, type FrameWriter, openCall } from "./support/attacker.ts";
import { createScene, type Scene } from "./support/scene.ts";
import { type Attack, withstand } from "./support/withstand.ts";

const CANCEL = 8;
const request = framed(sotwRequest(CLUSTER));
const reset = (stream: number, code = CANCEL): Buffer => frame(frameType.reset, 0, stream, uint32(code));
const repeated = (bytes: Uint8Array, times: number): Buffer => Buffer.concat(Array(times).fill(bytes));

/** `:method POST`, `:scheme http`, `:path /` and an authority, from HPACK's static table. */
const shortestHeaders = Buffer.from([0x83, 0x86, 0x84, 0x41, 0x01, 0x61]);

/** The number of writes of a flood on one connection. */
const BATCHES = 200;

/** Writes the same bytes again and again without reading, until the connection is closed or all batches are written. */
async function floodUnread(attacker: Attacker, bytes: Uint8Array): Promise<void> {
  const connection = await attacker.frames();
  connection.socket.pause();
  for (let batch = 0; batch < BATCHES && !connection.isClosed; batch++) {
    await connection.write(bytes);
    await breath();
  }
}

const attacks: readonly Attack[] = [
  {
    name: "a packet of 61 bytes: HEADERS and RST_STREAM in one read",
    round: async (attacker) => {
      for (const code of [7, 2, 1, 0, CANCEL]) {
        const connection = await attacker.frames();
        await connection.write(frame(frameType.headers, END_HEADERS, 1, shortestHeaders), reset(1, code));
        await connection.isRead();
      }
    },
  },
  {
    name: "frames of several calls in one read, each in its own wrong order",
    round: async (attacker) => {
      const head = frame(frameType.headers, END_HEADERS, 1, callHeaders(ADS_SOTW));
      const data = frame(frameType.data, 0, 1, request);
      const wrong = [
        [head, data, reset(1, 7), data],
        [head, frame(frameType.data, END_STREAM, 1, request), data],
        [head, head],
        [head, frame(frameType.headers, END_HEADERS, 1, headerBlock({ x: "y" }))],
        [head, frame(frameType.windowUpdate, 0, 1, uint32(0))],
        [head, frame(frameType.goAway, 0, 0, Buffer.alloc(8))],
      ];
      for (const frames of wrong) {
        const connection = await attacker.frames();
        await connection.write(...frames);
        await breath();
      }
    },
    passes: ["connection-broken"],
  },
  {
    name: "rapid reset with CANCEL",
    round: async (attacker) => {
      const connection = await attacker.frames();
      for (let batch = 0; batch < BATCHES && !connection.isClosed; batch++) {
        const calls = Array.from({ length: 200 }, () => connection.call(ADS_SOTW));
        await connection.write(...calls.flatMap((call) => [call.frame, reset(call.stream)]));
        await breath();
      }
    },
    // Node ends such a connection without an event.
    mayPass: ["connection-broken"],
  },
  {
    name: "CONTINUATION without an end",
    round: async (attacker) => {
      const connection = await attacker.frames();
      await connection.write(frame(frameType.headers, 0, 1, callHeaders(ADS_SOTW)));
      const more = frame(frameType.continuation, 0, 1, repeated(headerBlock({ "x-more": "v".repeat(100) }), 100));
      for (let batch = 0; batch < BATCHES && !connection.isClosed; batch++) await connection.write(more).then(breath);
    },
    passes: ["connection-broken"],
  },
  {
    name: "SETTINGS whose answers nobody reads",
    round: (attacker) =>
      floodUnread(attacker, repeated(frame(frameType.settings, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255])), 1_000)),
    passes: ["connection-broken"],
  },
  {
    name: "PINGs whose answers nobody reads",
    round: (attacker) => floodUnread(attacker, repeated(frame(frameType.ping, 0, 0, Buffer.alloc(8)), 1_000)),
    passes: ["connection-broken"],
  },
  {
    name: "PINGs whose answers are read",
    round: async (attacker) => {
      const connection = await attacker.frames();
      const pings = repeated(frame(frameType.ping, 0, 0, Buffer.alloc(8)), 200);
      for (let batch = 0; batch < BATCHES && !connection.isClosed; batch++) {
        await connection.write(pings);
        await connection.isRead();
      }
    },
  },
  {
    name: "a header list of 70 KB",
    round: async (attacker) => {
      const connection = await attacker.frames();
      const block = repeated(headerBlock({ "x-long": "v".repeat(250) }), 280);
      const first = frame(frameType.headers, 0, 1, callHeaders(ADS_SOTW));
      const pieces = [0, 16_384, 32_768, 49_152, 65_536].map((at) => block.subarray(at, at + 16_384));
      const more = pieces.map((piece, index) =>
        frame(frameType.continuation, index === pieces.length - 1 ? END_HEADERS : 0, 1, piece),
      );
      await connection.write(first, ...more);
      await connection.isRead();
    },
  },
  {
    name: "headers that unpack to many times their size",
    round: async (attacker) => {
      const connection = await attacker.frames();
      const entry = headerBlock({ "x-big": "v".repeat(250) });
      entry[0] = 0x40; // with incremental indexing
      const references = Buffer.alloc(150, 0x80 | 62);
      const block = Buffer.concat([callHeaders(ADS_SOTW), entry, references]);
      for (let stream = 1; stream < 2_000 && !connection.isClosed; stream += 2) {
        await connection.write(frame(frameType.headers, END_HEADERS, stream, block));
        if (stream % 10 === 1) await connection.isRead();
      }
    },
  },
  {
    name: "one byte to a frame, and one to a read",
    round: async (attacker) => {
      const connection = await attacker.frames();
      const call = connection.call(ADS_DELTA);
      await connection.write(call.frame, frame(frameType.data, 0, call.stream, Buffer.from([0, 0, 0xff, 0xff, 0xff])));
      const byte = frame(frameType.data, 0, call.stream, Buffer.from([1]));
      // Less than the initial flow-control window.
      await connection.write(repeated(byte, 40_000));
      for (let at = 0; at < 2_000 && !connection.isClosed; at++) {
        await connection.write(byte);
        if (at % 20 === 0) await breath();
      }
    },
    passes: ["maxSmallFragments"],
  },
  {
    name: "calls that end before they say anything",
    round: async (attacker) => {
      const connection = await attacker.frames();
      for (let batch = 0; batch < BATCHES && !connection.isClosed; batch++) {
        const calls = Array.from({ length: 25 }, () => connection.call(ADS_SOTW));
        await connection.write(
          ...calls.flatMap((call) => [call.frame, frame(frameType.data, END_STREAM, call.stream)]),
        );
        await connection.isRead();
      }
    },
    // It does not care how many calls may be open.
    mayPass: ["connection-broken"],
  },
  {
    name: "13,000 HEADERS in one write",
    round: async (attacker) => {
      const connection = await attacker.frames();
      await connection.write(...Array.from({ length: 13_000 }, () => connection.call(ADS_SOTW).frame));
      await connection.isRead();
    },
    passes: ["connection-broken"],
  },
  {
    name: "20,000 calls on 200 connections, each in one write",
    round: async (attacker) => {
      const connections = await Promise.all(Array.from({ length: 200 }, () => attacker.frames()));
      const write = (one: FrameWriter): Promise<void> =>
        one.write(...Array.from({ length: 100 }, () => one.call(ADS_SOTW).frame));
      await Promise.all(connections.map(write));
      await Promise.all(connections.map((one) => one.isRead()));
    },
    mayPass: ["maxStreamsPerPeer"],
  },
  {
    name: "calls that are opened and say nothing",
    round: async (attacker) => {
      const session = await attacker.session();
      for (let at = 0; at < 3_000; at++) openCall(session, ADS_SOTW);
    },
    holdsOn: true,
    passes: ["maxStreamsPerPeer"],
  },
];

let scene: Scene;
beforeAll(async () => {
  scene = await createScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", (_, attack) => withstand(scene, attack));
