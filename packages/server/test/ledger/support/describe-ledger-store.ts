import { Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type {
  Appended,
  AppendResult,
  LedgerHead,
  LedgerStore,
  StoredRecord,
  WholeLedger,
} from "../../../src/ledger/store.ts";

/** A ledger that can be left and opened again. */
export interface OpenedLedger {
  readonly store: LedgerStore;
  /** Undefined: it ends with its process. */
  readonly reopen: (() => Promise<LedgerStore>) | undefined;
  readonly end: () => Promise<void>;
}

const bodyOf = (text: string): string => text.replace("record ", "body-");
const EMPTY: LedgerHead = { number: 0, id: "" };

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Records with these texts; each body is called what it contains. */
export function appended(records: readonly string[], bodies: readonly string[] = []): Appended {
  return { records, bodies: new Map(bodies.map((body) => [body, bytesOf(body)])) };
}

export async function collect(store: LedgerStore, after = 0): Promise<readonly StoredRecord[]> {
  const records: StoredRecord[] = [];
  for await (const record of store.read(after)) records.push(record);
  return records;
}

export async function texts(store: LedgerStore, after = 0): Promise<readonly string[]> {
  return (await collect(store, after)).map(({ text }) => text);
}

/** Appends at the head. */
export async function add(
  store: LedgerStore,
  records: readonly string[],
  bodies?: readonly string[],
): Promise<LedgerHead> {
  const result = await store.append(store.head, appended(records, bodies));
  if (result.kind !== "appended") throw new Error(`expected an append, got ${JSON.stringify(result)}`);
  return result.head;
}

async function bodyText(store: LedgerStore, digest: string): Promise<string | undefined> {
  const bytes = await store.body(digest);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** What a store has, with these bodies. */
async function wholeOf(store: LedgerStore, bodies: readonly string[]): Promise<WholeLedger> {
  const { head, completeAfter } = store;
  const brought = bodies.map((body): readonly [string, Uint8Array] => [body, bytesOf(body)]);
  const snapshot = await store.snapshot();
  return { head, completeAfter, snapshot, records: () => store.read(0), bodies: () => Readable.from(brought) };
}

/** What every store of a ledger promises. */
export function describeLedgerStore(name: string, open: () => Promise<OpenedLedger>): void {
  describe(`${name} is a ledger's store`, () => {
    let ledger: OpenedLedger;
    let store: LedgerStore;
    beforeEach(async () => {
      ledger = await open();
      store = ledger.store;
    });
    afterEach(() => ledger.end());

    test("that begins empty, with a random epoch", async () => {
      const other = await open();
      expect([store.head, await store.snapshot(), await collect(store)]).toEqual([EMPTY, undefined, []]);
      expect(store.epoch).toMatch(/./);
      expect(store.epoch).not.toBe(other.store.epoch);
      await other.end();
    });

    test("whose records have numbers without gaps, in the order of the appends", async () => {
      await add(store, ["a"]);
      const head = await add(store, ["b", "c"]);
      const records = await collect(store);
      expect(records.map(({ number, text }) => [number, text])).toEqual([
        [1, "a"],
        [2, "b"],
        [3, "c"],
      ]);
      expect([head, store.head]).toEqual([
        { number: 3, id: records[2]?.id },
        { number: 3, id: records[2]?.id },
      ]);
      expect([await texts(store, 1), await texts(store, 3), await texts(store, 9)]).toEqual([["b", "c"], [], []]);
    });

    test("in which equal ids have an equal past", async () => {
      const other = await open();
      await add(store, ["a", "same"]);
      await add(other.store, ["b", "same"]);
      expect(store.head.id).not.toBe(other.store.head.id);
      await other.end();
    });

    test("that refuses an append after another head as a value", async () => {
      const first = await add(store, ["a"]);
      const refused: readonly LedgerHead[] = [EMPTY, { number: 1, id: "other" }, { number: 2, id: first.id }];
      for (const expected of refused)
        expect(await store.append(expected, appended(["b"], ["body"]))).toEqual({ kind: "conflict", head: first });
      expect([await texts(store), await store.body("body"), store.head]).toEqual([["a"], undefined, first]);
    });

    test("that takes no text of more than one line", async () => {
      await expect(async () => await store.append(store.head, appended(["a", "b\nc"]))).rejects.toThrow(TypeError);
      expect([store.head, await collect(store)]).toEqual([EMPTY, []]);
    });

    test("with texts and bodies of every content and size", async () => {
      const long = "é\u2028".repeat(700_000);
      const bytes = Uint8Array.from({ length: 2_000_000 }, (_, i) => (i * 31) % 251);
      const bodies = new Map([
        ["empty", new Uint8Array()],
        ["lines", bytesOf("\n\r\n\0")],
        ["long", bytes],
      ]);
      await store.append(store.head, { records: ["", long, "{}"], bodies });
      expect((await texts(store)).map((text) => text === long || text)).toEqual(["", true, "{}"]);
      for (const [digest, body] of bodies)
        expect(Buffer.compare((await store.body(digest)) ?? Buffer.from("none"), body)).toBe(0);
      expect(await store.body("unknown")).toBeUndefined();
    });

    test("in which exactly one of the writers gets each number", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(fc.nat(3), fc.nat(4)), { maxLength: 40 }), async (moves) => {
          const { store: shared, end } = await open();
          const known = [shared.head, shared.head, shared.head, shared.head];
          const answers: { readonly text: string; readonly answer: Promise<AppendResult> }[] = [];
          for (const [i, [writer, turns]] of moves.entries()) {
            const text = `${writer}:${i}`;
            const answer = shared.append(known[writer] ?? EMPTY, appended([text])).then((result) => {
              if ("head" in result) known[writer] = result.head;
              return result;
            });
            answers.push({ text, answer });
            for (let i = 0; i < turns; i++) await turn();
          }
          const won: (readonly [number, string])[] = [];
          for (const { text, answer } of answers) {
            const result = await answer;
            if (result.kind === "appended") won.push([result.head.number, text]);
          }
          const records = (await collect(shared)).map(({ number, text }) => [number, text]);
          expect(records).toEqual(won.toSorted(([a], [b]) => a - b));
          expect(records.map(([number]) => number)).toEqual(records.map((_, i) => i + 1));
          await end();
        }),
        { numRuns: 25 },
      );
    });

    test("that is read up to the head at the time of the call, while it grows", async () => {
      await add(store, ["a", "b"]);
      const read: string[] = [];
      const records = store.read(0);
      await add(store, ["c"]);
      for await (const { text } of records) {
        read.push(text);
        await add(store, ["d"]);
      }
      expect([read, store.head.number]).toEqual([["a", "b"], 5]);
    });

    test("that tells when its head is past a number", async () => {
      const passed: string[] = [];
      const { signal } = new AbortController();
      const waits = [0, 1, 2].map((number) => store.whenPast(number, signal).then(() => passed.push(`${number}`)));
      const cancel = new AbortController();
      const cancelled = store.whenPast(9, cancel.signal).then(() => passed.push("cancelled"));
      await add(store, ["a", "b"]);
      await Promise.all(waits.slice(0, 2));
      expect(passed).toEqual(["0", "1"]);
      cancel.abort();
      await cancelled;
      await store.whenPast(9, cancel.signal);
      await store.whenPast(1, signal);
      await add(store, ["c"]);
      await waits[2];
      expect(passed).toEqual(["0", "1", "cancelled", "2"]);
    });

    test("that has nothing of the past behind a snapshot but what is to be kept", async () => {
      await add(store, ["a"], ["A"]);
      await add(store, ["b"], ["B"]);
      const head = await add(store, ["c"], ["C"]);
      await add(store, ["d"], ["D"]);
      const before = await collect(store);
      const snapshot = { head, text: "abc" };
      expect(store.completeAfter).toBe(0);
      await store.compact(snapshot, { completeAfter: 1, records: new Set([2]), bodies: new Set(["B", "A"]) });
      expect([await store.snapshot(), store.completeAfter]).toEqual([snapshot, 1]);
      expect(await collect(store)).toEqual([before[1], before[3]]);
      expect(await collect(store, 3)).toEqual([before[3]]);
      const bodies = await Promise.all(["A", "B", "D"].map((digest) => bodyText(store, digest)));
      expect(bodies).toEqual(["A", "B", "D"]);
      expect([store.head.number, (await add(store, ["e"])).number]).toEqual([4, 5]);
      expect(await texts(store)).toEqual(["b", "d", "e"]);
    });

    test("in which a body that an append after the snapshot brought again stays", async () => {
      const head = await add(store, ["a"], ["A", "B"]);
      await add(store, ["b"], ["A"]);
      await store.compact({ head, text: "a" }, { completeAfter: 0, records: new Set(), bodies: new Set() });
      expect(await bodyText(store, "A")).toBe("A");
      await add(store, ["c"], ["B"]);
      expect([await bodyText(store, "A"), await bodyText(store, "B")]).toEqual(["A", "B"]);
    });

    test("in which a body that is brought during the compaction stays", async () => {
      const head = await add(store, ["a"], ["A", "B"]);
      const compaction = store.compact(
        { head, text: "a" },
        { completeAfter: 0, records: new Set(), bodies: new Set() },
      );
      const appends = [add(store, ["b"], ["A"]), compaction.then(() => add(store, ["c"], ["B"]))];
      await Promise.all([compaction, ...appends]);
      expect([await bodyText(store, "A"), await bodyText(store, "B")]).toEqual(["A", "B"]);
      expect(await texts(store)).toEqual(["b", "c"]);
    });

    test("whose snapshot with what came after it is the whole, whenever it is compacted", async () => {
      const step = fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({ kind: fc.constant("append" as const), count: fc.integer({ min: 1, max: 4 }) }),
        },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), behind: fc.nat(3) }) },
        { weight: 1, arbitrary: fc.constant({ kind: "reopen" as const }) },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
          const { store: first, reopen, end } = await open();
          let current = first;
          const heads: LedgerHead[] = [];
          const names = (to: number): readonly string[] => heads.slice(0, to).map((_, i) => `record ${i + 1}`);
          for (const one of steps) {
            if (one.kind === "append") {
              for (let i = 0; i < one.count; i++) {
                const text = `record ${heads.length + 1}`;
                heads.push(await add(current, [text], [bodyOf(text)]));
              }
            } else if (one.kind === "reopen" && reopen !== undefined) {
              await current.close();
              current = await reopen();
            } else if (one.kind === "compact") {
              const head = heads.at(-1 - one.behind);
              const old = (await current.snapshot())?.head.number ?? 0;
              if (head !== undefined && head.number >= old)
                await current.compact(
                  { head, text: JSON.stringify(names(head.number)) },
                  {
                    completeAfter: 0,
                    records: new Set(),
                    bodies: new Set(names(head.number).map((text) => bodyOf(text))),
                  },
                );
            }
          }
          const snapshot = await current.snapshot();
          const folded = snapshot === undefined ? [] : (JSON.parse(snapshot.text) as string[]);
          expect([...folded, ...(await texts(current, folded.length))]).toEqual(names(heads.length));
          for (const text of names(heads.length)) expect(await bodyText(current, bodyOf(text))).toBe(bodyOf(text));
          await end();
        }),
        { numRuns: 40 },
      );
    });

    test("that begins with what another one has, and is that again when it is opened again", async () => {
      const other = await open();
      await add(other.store, ["a"], ["A"]);
      await add(other.store, ["b"], ["B"]);
      const head = await add(other.store, ["c"], ["C"]);
      const [snapshot, long] = [{ head, text: "abc" }, "é\u2028".repeat(700_000)];
      await other.store.compact(snapshot, { completeAfter: 1, records: new Set([2]), bodies: new Set(["B"]) });
      await add(other.store, ["d", long], ["D"]);
      const whole = await wholeOf(other.store, ["B", "D"]);
      expect(await store.begin(whole)).toEqual({ kind: "appended", head: other.store.head });
      const contents = async (of: LedgerStore): Promise<readonly unknown[]> => [
        ...[of.head, of.completeAfter, await of.snapshot(), await collect(of), await collect(of, 3)],
        ...(await Promise.all(["A", "B", "C", "D"].map((digest) => bodyText(of, digest)))),
      ];
      const expected = await contents(other.store);
      expect(await contents(store)).toEqual(expected);
      expect(store.epoch).not.toBe(other.store.epoch);
      if (ledger.reopen !== undefined) {
        await store.close();
        store = await ledger.reopen();
        expect(await contents(store)).toEqual(expected);
      }
      expect(await add(store, ["e"])).toEqual(await add(other.store, ["e"]));
      await other.end();
    });

    test("that begins with what was never compacted, however much that is", async () => {
      const other = await open();
      const bodies = Array.from({ length: 1_200 }, (_, i) => `body-${i}-${"x".repeat(3_000)}`);
      await add(other.store, ["a"], bodies);
      for (let i = 0; i < 40; i++) await add(other.store, [`${i} ${"y".repeat(50_000)}`]);
      expect((await store.begin(await wholeOf(other.store, bodies))).kind).toBe("appended");
      expect([store.head, await store.snapshot(), store.completeAfter]).toEqual([other.store.head, undefined, 0]);
      expect(await collect(store)).toEqual(await collect(other.store));
      for (const body of [bodies[0], bodies[599], bodies[1_199]])
        expect((await bodyText(store, body ?? "")) === body).toBe(true);
      await other.end();
    });

    test("that begins with nothing where there is a record", async () => {
      const other = await open();
      await add(other.store, ["a"]);
      const head = await add(store, ["b"], ["B"]);
      expect(await store.begin(await wholeOf(other.store, []))).toEqual({ kind: "conflict", head });
      expect([store.head, await texts(store), await bodyText(store, "B")]).toEqual([head, ["b"], "B"]);
      await other.end();
    });

    test("that is empty once it is cleared, and only if nobody has appended meanwhile", async () => {
      const first = await add(store, ["a"], ["A"]);
      const head = await add(store, ["b"], ["B"]);
      await store.compact({ head, text: "ab" }, { completeAfter: 2, records: new Set([1]), bodies: new Set(["B"]) });
      await add(store, ["c"]);
      const { epoch } = store;
      expect(await store.clear(first)).toEqual({ kind: "conflict", head: store.head });
      expect(await texts(store)).toEqual(["a", "c"]);
      expect(await store.clear(store.head)).toEqual({ kind: "appended", head: EMPTY });
      const nothing = [EMPTY, epoch, undefined, 0, []];
      const contents = async (): Promise<readonly unknown[]> => [
        ...[store.head, store.epoch, await store.snapshot(), store.completeAfter, await collect(store)],
      ];
      expect(await contents()).toEqual(nothing);
      if (ledger.reopen !== undefined) {
        await store.close();
        store = await ledger.reopen();
        expect(await contents()).toEqual(nothing);
      }
      await add(store, ["again"], ["A"]);
      expect([await texts(store), await bodyText(store, "A")]).toEqual([["again"], "A"]);
    });

    test("that takes nothing once it is closed", async () => {
      await store.close();
      expect(await store.append(store.head, appended(["a"]))).toEqual({
        kind: "unavailable",
        reason: "the ledger is closed",
      });
    });

    test("that is as it was when it is opened again", async () => {
      if (ledger.reopen === undefined) return;
      await add(store, ["a"], ["A"]);
      const head = await add(store, ["b"], ["B"]);
      await store.compact({ head, text: "ab" }, { completeAfter: 2, records: new Set([1]), bodies: new Set(["B"]) });
      await add(store, ["c"], ["C"]);
      const before = [store.epoch, store.head, store.completeAfter, await store.snapshot(), await collect(store)];
      await store.close();
      const again = await ledger.reopen();
      expect([again.epoch, again.head, again.completeAfter, await again.snapshot(), await collect(again)]).toEqual(
        before,
      );
      const bodies = await Promise.all(["A", "B", "C"].map((digest) => bodyText(again, digest)));
      expect(bodies).toEqual([undefined, "B", "C"]);
      await add(again, ["d"]);
      expect(await texts(again)).toEqual(["a", "c", "d"]);
    });
  });
}
