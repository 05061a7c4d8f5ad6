import { type LedgerRecord, LedgerState } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyDraft } from "../support/records.ts";
import { tries } from "../support/script.ts";

/** Records in order, of which a few are refused: decisions on what is not held. */
const ledger = fc.array(anyDraft, { maxLength: 25 }).map((drafts) => {
  const state = LedgerState.empty();
  const records: LedgerRecord[] = [];
  let time = 0;
  for (const { draft, pauseMs } of drafts) {
    time += pauseMs;
    const number = state.number + 1;
    const record = { ...draft(number), number, time } as LedgerRecord;
    if (state.apply(record).applied) records.push(record);
  }
  return records;
});

/** As it comes from a store. */
function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

test("a snapshot and the records after it make the state of all records, wherever the snapshot is", () => {
  fc.assert(
    fc.property(ledger, (records) => {
      const whole = LedgerState.empty();
      const readers = [LedgerState.fromSnapshot(throughJson(whole.toSnapshot()))];
      for (const record of records) {
        whole.apply(record);
        for (const reader of readers) expect(reader.apply(throughJson(record)).applied).toBe(true);
        const expected = whole.toSnapshot();
        for (const reader of readers) expect(reader.toSnapshot()).toEqual(expected);
        readers.push(LedgerState.fromSnapshot(throughJson(expected)));
      }
    }),
    { ...tries, numRuns: Math.ceil(tries.numRuns / 6) },
  );
});

test("what is in force is the sum of the effects", () => {
  fc.assert(
    fc.property(ledger, (records) => {
      const state = LedgerState.empty();
      const inForce = new Map<string, string>();
      for (const record of records) {
        const applied = state.apply(record);
        for (const { layer, type, name, after } of applied.applied ? applied.effect.changes : []) {
          const key = `${layer} ${type} ${name}`;
          if (after === undefined) inForce.delete(key);
          else inForce.set(key, after.version);
        }
        const entries = [...state.entries()].map(
          ({ layer, type, name, entry }) => [`${layer} ${type} ${name}`, entry.version] as const,
        );
        expect(new Map(entries)).toEqual(inForce);
      }
    }),
    tries,
  );
});

const garbage = fc.oneof(
  fc.anything(),
  fc.record({
    kind: fc.constantFrom("wave-released", "revision", "held", "approved"),
    number: fc.nat(3),
    time: fc.nat(),
  }),
  fc.record({
    kind: fc.constantFrom("revision", "live", "rolled-back", "unpinned"),
    number: fc.nat(3),
    time: fc.nat(),
    to: fc.anything(),
    origin: fc.oneof(fc.constant({ writer: "directory" }), fc.anything()),
    changes: fc.oneof(
      fc.anything(),
      fc.array(
        fc.record({
          layer: fc.string(),
          type: fc.string(),
          name: fc.string(),
          before: fc.anything(),
          after: fc.anything(),
        }),
      ),
    ),
    pins: fc.oneof(fc.anything(), fc.constant([])),
  }),
);

test("any sequence of anything is taken in or refused with a reason, and what is refused changes nothing", () => {
  fc.assert(
    fc.property(fc.array(garbage, { maxLength: 10 }), (sequence) => {
      const state = LedgerState.empty();
      for (const record of sequence) {
        const before = JSON.stringify(state.toSnapshot());
        const applied = state.apply(record as LedgerRecord);
        if (applied.applied) expect(state.number).toBe((record as LedgerRecord).number);
        else {
          expect(applied.reason).not.toBe("");
          expect(JSON.stringify(state.toSnapshot())).toBe(before);
        }
      }
    }),
    tries,
  );
});
