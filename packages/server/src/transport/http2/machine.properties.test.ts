import fc from "fast-check";
import { expect, test } from "vitest";
import { callHeaders, frame, headerBlock, PREFACE, uint32 } from "../../../test/support/http2-frames.ts";
import { describeFrame, MachineRun, readFrames } from "../../../test/support/machine-run.ts";
import type { Http2Stream } from "./http2.ts";

const streams = fc.integer({ min: 0, max: 9 });
const flags = fc.integer({ min: 0, max: 0x2f });
const block = fc.oneof(
  fc.constantFrom("/one", "/two").map((path) => callHeaders(path)),
  fc.constant(headerBlock({ ":method": "HEAD", ":scheme": "http", ":path": "/" })),
  fc.constant(callHeaders("/length", { "content-length": "3" })),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
);
const number = fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.constantFrom(0, 2 ** 31 - 1));
const aSetting = fc
  .tuple(fc.integer({ min: 0, max: 7 }), fc.oneof(number, fc.constantFrom(16_384, 16_777_215)))
  .map(([id, value]) => Buffer.concat([Buffer.from([0, id]), uint32(value)]));

/** Frames that are mostly right. */
const aFrame = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(streams, fc.constantFrom(4, 5, 0, 1))
      .chain(([id, has]) => block.map((fields) => frame(1, has, id, fields))),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(1, 3, 5), fc.constantFrom(0, 0, 1), fc.uint8Array({ maxLength: 200 }))
      .map(([id, has, bytes]) => frame(0, has, id, bytes)),
  },
  { weight: 2, arbitrary: fc.tuple(streams, number).map(([id, value]) => frame(8, 0, id, uint32(value))) },
  { weight: 1, arbitrary: fc.tuple(streams, number).map(([id, value]) => frame(3, 0, id, uint32(value))) },
  { weight: 1, arbitrary: fc.array(aSetting, { maxLength: 3 }).map((all) => frame(4, 0, 0, Buffer.concat(all))) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      frame(4, 1, 0),
      frame(6, 0, 0, Buffer.alloc(8)),
      frame(6, 1, 0, Buffer.alloc(8)),
      frame(7, 0, 0, Buffer.alloc(8)),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.integer({ min: 0, max: 12 }), flags, streams, fc.uint8Array({ maxLength: 30 }))
      .map(([type, has, id, bytes]) => frame(type, has, id, bytes)),
  },
);
const someFrames = fc.array(aFrame, { maxLength: 40 });

/** Answers each request as its number says: at once, in parts, never, or with a reset. */
function serve(run: MachineRun): (stream: Http2Stream) => void {
  let served = 0;
  return (stream) => {
    const kind = served++ % 5;
    stream.read({
      onData: (chunk) => run.events.push(`data ${chunk.byteLength}`),
      onEnd: () => run.events.push("end"),
    });
    if (kind === 4) stream.reset(8);
    if (kind === 3) return;
    stream.respond({ ":status": 200 }, kind === 0);
    stream.write([Buffer.alloc(70_000), Buffer.alloc(0), Buffer.from("tail")]);
    if (kind !== 2) stream.end(kind === 1 ? { "grpc-status": "0" } : undefined);
  };
}

function started(): MachineRun {
  const run: MachineRun = new MachineRun({ maxStreams: 3, onStream: (stream) => answer(stream) });
  const answer = serve(run);
  return run;
}

/** What a run says to bytes in parts that end at the cuts. */
function say(bytes: Buffer, cuts: readonly number[]): { readonly events: readonly string[]; readonly sent: string } {
  const run = started();
  let from = 0;
  for (const cut of [
    ...cuts.map((share) => Math.floor(share * bytes.byteLength)).sort((a, b) => a - b),
    bytes.byteLength,
  ]) {
    run.machine.receive(bytes.subarray(from, cut));
    from = cut;
  }
  return { events: run.events, sent: run.sent().map(describeFrame).join("\n") };
}

test("however the bytes are split, the same happens, and the same is sent", () => {
  fc.assert(
    fc.property(someFrames, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }), (frames, cuts) => {
      const bytes = Buffer.concat([PREFACE, frame(4, 0, 0), ...frames]);
      expect(say(bytes, cuts)).toEqual(say(bytes, []));
    }),
    { numRuns: 500 },
  );
});

test("a byte at a time, the same happens", () => {
  fc.assert(
    fc.property(someFrames, (frames) => {
      const bytes = Buffer.concat([PREFACE, frame(4, 0, 0), ...frames]);
      const cuts = Array.from({ length: bytes.byteLength }, (_, at) => at / bytes.byteLength);
      expect(say(bytes, cuts)).toEqual(say(bytes, []));
    }),
    { numRuns: 60 },
  );
});

/** The client's view of what may be sent: windows and the order of the frames of a stream. */
class Witness {
  readonly #ended = new Set<number>();
  readonly #begun = new Set<number>();
  #window = 65_535;
  #goneAway = false;

  widen(growth: number): void {
    this.#window += growth;
  }

  see(bytes: Buffer): void {
    for (const { type, flags: has, stream, payload } of readFrames(bytes)) {
      expect(this.#goneAway && type <= 3, "a frame of a stream after the connection broke").toBe(false);
      if (type === 7 && payload.readUInt32BE(4) !== 0) this.#goneAway = true;
      if (type !== 0 && type !== 1) continue;
      expect(this.#ended.has(stream), `frames of ${stream} after its end`).toBe(false);
      if (type === 0) {
        expect(this.#begun.has(stream), `DATA of ${stream} before its headers`).toBe(true);
        this.#window -= payload.byteLength;
        expect(this.#window).toBeGreaterThanOrEqual(0);
      }
      this.#begun.add(stream);
      if ((has & 1) !== 0) this.#ended.add(stream);
    }
  }
}

test("any frames end in an orderly way: no exception, no frame after an end, no DATA beyond a window", () => {
  fc.assert(
    fc.property(
      someFrames,
      fc.array(fc.integer({ min: 0, max: 50_000 }), { minLength: 1, maxLength: 5 }),
      (frames, takes) => {
        const run = started();
        const witness = new Witness();
        let take = 0;
        const write = (): void => {
          const output = run.machine.takeOutput(takes[take++ % takes.length] ?? 0);
          witness.see(Buffer.concat(output.chunks));
          run.machine.onWritten(output);
          run.machine.tellClosed();
        };
        run.receive(PREFACE, frame(4, 0, 0));
        for (const one of frames) {
          if (one[3] === 8 && one.readUInt32BE(5) === 0 && one.byteLength === 13)
            witness.widen(one.readUInt32BE(9) % 2 ** 31);
          run.receive(one);
          write();
        }
        run.machine.lose();
        run.machine.tellClosed();
        const opened = run.events.filter((event) => event.startsWith("request"));
        const closed = run.events.filter((event) => event.startsWith("closed"));
        expect(closed.length, "each stream is told to be closed, once").toBe(opened.length);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("any bytes break the connection at most", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 10 }), (chunks) => {
      const run = started();
      run.receive(PREFACE, frame(4, 0, 0));
      for (const chunk of chunks) run.machine.receive(chunk);
      run.sent();
    }),
    { numRuns: 1_000 },
  );
});
