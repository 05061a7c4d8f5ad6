import { defaultFuses, finish, LedgerState, reverseTo, tripFuses } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { added, change, versionsOf, Writer } from "../support/records.ts";
import { CLUSTER, traits } from "../support/resources.ts";
import { tries } from "../support/script.ts";

const kindOf = (type: typeof CLUSTER) => traits(type)?.kind ?? "opaque";

test("a publish with at most 10 fewer resources than the hour's most, and little of size, trips nothing", () => {
  const steps = fc.array(fc.array(fc.nat(19), { maxLength: 4 }), { maxLength: 12 });
  fc.assert(
    fc.property(steps, (toggled) => {
      const state = LedgerState.empty();
      const writer = new Writer(state);
      writer.revision(added(20));
      for (const names of toggled) {
        const changes = [...new Set(names)].map((i) => {
          const before = state.entry({ layer: "base", type: CLUSTER, name: `c${i}` })?.version;
          return change(`c${i}`, before, before === undefined ? "1" : undefined);
        });
        const next = LedgerState.fromSnapshot(state.toSnapshot());
        next.apply({
          kind: "revision",
          number: state.number + 1,
          time: state.time,
          origin: { writer: "directory" },
          changes,
        });
        const trips = finish(tripFuses({ changes }, state, { time: state.time, kindOf, nodes: [] }, defaultFuses));
        const count = next.amount("base", CLUSTER).count;
        const most = state.highest("base", CLUSTER, state.time).count;
        const isWithin = most - count <= 10 || changes.every(({ after }) => after !== undefined);
        if (isWithin) expect(trips).toEqual([]);
        else expect(trips.map(({ fuse }) => fuse)).toEqual(["resources-removed"]);
        if (isWithin) writer.revision(changes);
      }
    }),
    tries,
  );
});

test("a rollback to any number brings its state back, and the way forth again, from whatever is kept since", () => {
  const steps = fc.array(fc.array(fc.tuple(fc.nat(5), fc.constantFrom("1", "2", "3", undefined)), { maxLength: 4 }), {
    minLength: 1,
    maxLength: 10,
  });
  fc.assert(
    fc.property(steps, fc.nat(), (revisions, pick) => {
      const state = LedgerState.empty();
      const writer = new Writer(state);
      const states = [versionsOf(state)];
      for (const places of revisions) {
        const wanted = new Map(places);
        writer.revision(
          [...wanted].map(([i, after]) =>
            change(`c${i}`, state.entry({ layer: "base", type: CLUSTER, name: `c${i}` })?.version, after),
          ),
        );
        states.push(versionsOf(state));
      }
      const to = pick % states.length;
      const from = state.number;
      for (const number of [to, from]) {
        const records = writer.records.slice(number);
        const reversal = reverseTo(state, { to: number, records, completeAfter: 0, kindOf });
        if (reversal.kind === "refused") throw new Error(reversal.reason);
        writer.append({ ...reversal, kind: "rolled-back", to: number });
        expect(versionsOf(state)).toEqual(states[number]);
      }
    }),
    tries,
  );
});
