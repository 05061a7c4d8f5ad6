import { expect, test } from "vitest";
import { Outbox, type OutboxChange } from "./outbox.ts";

const KB = 1_024;
const ok = { code: 0, message: "" };

/** A handle that takes a write only when it is told to. */
function stage() {
  const writes: (readonly Uint8Array[])[] = [];
  const changes: OutboxChange[] = [];
  const ended: unknown[] = [];
  let pending: (() => void) | undefined;
  const outbox = new Outbox(
    {
      prefix: () => new Uint8Array(0),
      write(pieces, written) {
        expect(pending).toBeUndefined(); // one write at a time
        writes.push(pieces);
        pending = written;
      },
      end: (status) => ended.push({ end: status }),
      reset: (status) => ended.push({ reset: status }),
    },
    (change) => changes.push(change),
  );
  return {
    outbox,
    writes,
    changes,
    ended,
    sizes: () => writes.map((pieces) => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)),
    push: (...lengths: readonly number[]) => {
      const pieces = lengths.map((length, i) => new Uint8Array(length).fill(i + 1));
      outbox.push({ pieces, byteLength: lengths.reduce((a, b) => a + b, 0) });
    },
    /** The client reads one write. */
    read() {
      const written = pending;
      pending = undefined;
      written?.();
    },
    get isWriting() {
      return pending !== undefined;
    },
  };
}

test("messages of one slice leave as one write, of one piece if they are small", () => {
  const { outbox, push, writes } = stage();
  push(5, 300, 4);
  push(5, 200, 4);
  outbox.flush();
  expect(writes.map((pieces) => pieces.map(({ byteLength }) => byteLength))).toEqual([[518]]);
});

test("a big message leaves in slices of 256 KB, each after the one before was taken, nothing copied but small pieces", () => {
  const { outbox, push, writes, sizes, read, changes } = stage();
  push(5, 1_000 * KB, 3);
  outbox.flush();
  expect(sizes()).toEqual([256 * KB]);
  expect(changes).toEqual(["stalled"]);
  read();
  expect(sizes()).toHaveLength(2);
  read();
  read();
  expect(sizes()).toEqual([256 * KB, 256 * KB, 256 * KB, 232 * KB + 8]);
  expect(changes).toEqual(["stalled"]);
  read();
  expect(changes).toEqual(["stalled", "drained"]);
  expect(outbox.pendingBytes).toBe(0);
  expect(new Set(writes.flat().map(({ buffer }) => buffer.byteLength)).has(1_000 * KB)).toBe(true);
});

test("what comes during a write is gathered into the next", () => {
  const { outbox, push, sizes, read } = stage();
  for (let i = 0; i < 10; i++) {
    push(100);
    outbox.flush();
  }
  expect(sizes()).toEqual([100]);
  read();
  expect(sizes()).toEqual([100, 900]);
});

test("an end waits for what was pushed before it; nothing follows it", () => {
  const { outbox, push, ended, sizes, read, changes } = stage();
  push(300 * KB);
  outbox.flush();
  outbox.end(ok);
  push(7);
  outbox.flush();
  read();
  expect(ended).toEqual([]);
  read();
  expect(ended).toEqual([{ end: ok }]);
  expect(sizes()).toEqual([256 * KB, 44 * KB]);
  expect(changes).toEqual(["stalled", "ended", "drained"]);
});

test("a reset waits for nothing, and a late callback is nothing", () => {
  const { outbox, push, ended, read, sizes } = stage();
  push(300 * KB);
  outbox.flush();
  outbox.reset(ok);
  read();
  expect({ ended, writes: sizes().length, pending: outbox.pendingBytes }).toEqual({
    ended: [{ reset: ok }],
    writes: 1,
    pending: 0,
  });
});

test("knows how long a write takes", () => {
  const { outbox, push, read } = stage();
  expect(outbox.blockedMs(performance.now() + 1_000)).toBe(0);
  push(1);
  outbox.flush();
  expect(outbox.blockedMs(performance.now() + 1_000)).toBeGreaterThanOrEqual(1_000);
  read();
  expect(outbox.blockedMs(performance.now() + 1_000)).toBe(0);
});
