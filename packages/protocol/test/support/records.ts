import type { TypeUrl } from "@xdskit/protocol";
import type {
  Applied,
  Entry,
  EntryChange,
  HeldRecord,
  LedgerRecord,
  LedgerState,
  Placement,
} from "@xdskit/protocol/internal";
import fc from "fast-check";
import { CLUSTER, ENDPOINTS, LISTENER } from "./resources.ts";

/** A record without what its place in the ledger gives it. */
export type Draft = Without<LedgerRecord, "number" | "time">;
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export const MINUTE = 60_000;

/** Appends drafts to a ledger's state; each takes a minute. */
export class Writer {
  readonly records: LedgerRecord[] = [];
  readonly #state: LedgerState;
  time = 0;

  constructor(state: LedgerState) {
    this.#state = state;
  }

  append(draft: Draft): Applied {
    this.time += MINUTE;
    const record: LedgerRecord = { ...draft, number: this.#state.number + 1, time: this.time };
    const applied = this.#state.apply(record);
    if (applied.applied) this.records.push(record);
    return applied;
  }

  revision(changes: readonly EntryChange[], placement?: Placement): Applied {
    return this.append({ kind: "revision", origin, changes, ...(placement !== undefined && { placement }) });
  }
}

export const origin: HeldRecord["origin"] = { writer: "directory" };

export function entry(version: string, size = 10): Entry {
  return { version, body: `body-${version}`, size };
}

/** A change by versions; undefined: there is none. */
export function change(
  name: string,
  before: string | undefined,
  after: string | undefined,
  { layer = "base", type = CLUSTER }: { readonly layer?: string; readonly type?: TypeUrl } = {},
): EntryChange {
  return {
    layer,
    type,
    name,
    before: before === undefined ? undefined : entry(before),
    after: after === undefined ? undefined : entry(after),
  };
}

/** New entries, `c0` and so on. */
export function added(
  count: number,
  version = "1",
  of?: { readonly layer?: string; readonly type?: TypeUrl },
): EntryChange[] {
  return Array.from({ length: count }, (_, i) => change(`c${i}`, undefined, version, of));
}

/** A placement with one group for each name. */
export function placement(...groups: readonly string[]): Placement {
  return { groups: groups.map((name) => ({ name, match: { id: [`${name}-*`] } })), clients: [], access: undefined };
}

/** The versions of a state by place. */
export function versionsOf(state: LedgerState): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...state.entries()].map(({ layer, type, name, entry: { version } }) => [
      `${layer} ${shortType(type)} ${name}`,
      version,
    ]),
  );
}

function shortType(type: TypeUrl): string {
  return type.slice(type.lastIndexOf(".") + 1);
}

const name = fc.constantFrom("a", "b", "c", "d");
const anyEntry = fc.option(
  fc.record({
    version: fc.constantFrom("1", "2", "3"),
    body: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
    size: fc.nat(9),
    isEmpty: fc.option(fc.constant(true), { nil: undefined }),
  }),
  { nil: undefined },
);
const place = { layer: fc.constantFrom("base", "node/n"), type: fc.constantFrom<TypeUrl>(CLUSTER, LISTENER), name };
const livePlace = { ...place, type: fc.constant<TypeUrl>(ENDPOINTS) };
const anyPlacement = fc.option(
  fc.subarray(["edge", "inner", "lab"]).map((groups) => placement(...groups)),
  { nil: undefined },
);
const body = {
  origin: fc.record({ writer: fc.constantFrom("directory", "api") }),
  changes: fc.array(fc.record({ ...place, before: anyEntry, after: anyEntry }), { maxLength: 4 }),
  placement: anyPlacement,
};
const pins = fc.array(fc.record({ ...place, version: fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined }) }), {
  maxLength: 3,
});

/** A draft of any kind; `back` is how far back a decision or rollback points. */
export const anyDraft: fc.Arbitrary<{ readonly draft: (number: number) => Draft; readonly pauseMs: number }> =
  fc.record({
    pauseMs: fc.oneof(fc.nat(20 * MINUTE), fc.constant(-3 * MINUTE)),
    draft: fc.oneof(
      fc.record({ kind: fc.constant("revision" as const), ...body }).map((draft) => () => draft as Draft),
      fc
        .record({
          kind: fc.constant("live" as const),
          origin: body.origin,
          changes: fc.array(fc.record({ ...livePlace, before: anyEntry, after: anyEntry }), { maxLength: 4 }),
        })
        .map((draft) => () => draft as Draft),
      fc
        .record({
          kind: fc.constant("emptied" as const),
          origin: body.origin,
          changes: fc.array(fc.record({ ...livePlace, before: anyEntry, after: anyEntry }), { maxLength: 4 }),
        })
        .map((draft) => () => draft as Draft),
      fc
        .record({
          kind: fc.constant("held" as const),
          ...body,
          trips: fc.constant([{ fuse: "pinned", message: "no" }]),
        })
        .map((draft) => () => draft as Draft),
      fc
        .record({
          kind: fc.constantFrom("approved" as const, "rejected" as const, "withdrawn" as const),
          back: fc.integer({ min: 1, max: 2 }),
        })
        .map(
          ({ kind, back }) =>
            (number: number): Draft => ({ kind, of: number - back }),
        ),
      fc.record({ kind: fc.constant("rolled-back" as const), back: fc.integer({ min: 1, max: 6 }), pins, ...body }).map(
        ({ back, ...draft }) =>
          (number: number) =>
            ({ ...draft, to: Math.max(0, number - back) }) as Draft,
      ),
      fc.record({ kind: fc.constant("unpinned" as const), pins }).map((draft) => () => draft as Draft),
    ),
  });
