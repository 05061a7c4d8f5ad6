import type { Reference } from "@xdskit/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { CLUSTER, LISTENER, ROUTE, resource } from "../../../test/support/resources.ts";
import { answer, streamWith, typeStream } from "../../../test/support/type-streams.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { BlockedDependents } from "./blocked-dependents.ts";
import type { OrderedStream } from "./order-members.ts";

let listeners: TypeStream;
let routes: TypeStream;
let aggregated: OrderedStream;
let separate: OrderedStream;

beforeEach(() => {
  [listeners, routes] = [typeStream(LISTENER), typeStream(ROUTE)];
  [aggregated, separate] = [streamWith(true), streamWith(false)];
});

const to = (...names: readonly string[]): readonly Reference[] => names.map((name) => ({ type: ROUTE, name }));
const listener = (name: string, ...used: readonly string[]): ReturnType<typeof resource> =>
  resource(LISTENER, name, used.join(), { references: [...to(...used), { type: CLUSTER, name: "c" }] });
const brings = (at: number, ...names: readonly string[]): ReturnType<typeof answer> =>
  answer(
    ROUTE,
    at,
    names.map((name) => resource(ROUTE, name, "1")),
  );

const everything = (): boolean => true;
const nothing = (): boolean => false;

/** Only routes are awaited here. */
function blocked(): BlockedDependents {
  return new BlockedDependents((type) => type === ROUTE);
}

/** Listeners are sent in an answer of that number, and ACKed unless it says otherwise. */
function send(
  all: BlockedDependents,
  delivery: ReturnType<typeof answer>,
  isAccepted = true,
  isNew: (name: string) => boolean = nothing,
): void {
  all.send(listeners, delivery, isNew);
  if (isAccepted) all.accept(listeners, delivery, aggregated);
}

/** A Listener that names route r was sent in answer 5, and ACKed. */
function waiting(isAccepted = true): BlockedDependents {
  const all = new BlockedDependents((type) => type === ROUTE || type === LISTENER);
  send(all, answer(LISTENER, 5, [listener("l", "r")]), isAccepted);
  return all;
}

describe("S-ORD-05: a Listener goes on with its former version", () => {
  test("not if it needs nothing that may use Clusters", () => {
    const all = blocked();
    send(all, answer(LISTENER, 5, [listener("l")], { removed: ["other"] }));
    expect([all.isEmpty, all.awaitedType, all.readyTo(nothing)]).toEqual([true, undefined, Number.POSITIVE_INFINITY]);
  });

  test("until the route that it names is settled: it counts from before it was sent", () => {
    const all = waiting();
    expect([all.isEmpty, all.awaitedType]).toEqual([false, ROUTE]);
    expect([all.awaits(resource(ROUTE, "r", "1")), all.awaits(resource(ROUTE, "x", "1"))]).toEqual([true, false]);
    expect(all.awaits(resource(CLUSTER, "r", "1"))).toBe(false);
    expect(all.readyTo(({ name }) => name !== "r")).toBe(4);
    expect(all.isEmpty).toBe(false);
    expect(all.readyTo(everything)).toBe(Number.POSITIVE_INFINITY);
    expect(all.isEmpty).toBe(true);
  });

  test("of which there is none, if it is new", () => {
    const settled: unknown[] = [];
    const ask = ({ name }: Reference, isFirst: boolean): boolean => settled.push([name, isFirst]) < 0;
    const all = new BlockedDependents((type) => type === ROUTE || type === LISTENER);
    send(all, answer(LISTENER, 5, [listener("l", "r"), listener("m", "s")]), true, (name: string) => name === "m");
    all.readyTo(ask);
    expect(settled).toEqual([
      ["r", false],
      ["s", true],
    ]);
  });

  test("until a later response brings each of its routes, and is ACKed", () => {
    const all = new BlockedDependents((type) => type === ROUTE || type === LISTENER);
    send(all, answer(LISTENER, 5, [listener("l", "r", "s")]));
    all.accept(routes, brings(4, "r", "s"), aggregated);
    all.accept(routes, brings(5, "r", "s"), aggregated);
    all.accept(routes, brings(6, "r"), aggregated);
    expect(all.readyTo(nothing)).toBe(4);
    all.accept(routes, brings(7, "s"), aggregated);
    expect(all.readyTo(nothing)).toBe(Number.POSITIVE_INFINITY);
  });

  test("as long as the response that brought it is neither ACKed nor NACKed", () => {
    const all = blocked();
    const brought = answer(LISTENER, 5, [listener("l", "r")]);
    listeners.deliveries.open(brought);
    send(all, brought, false);
    expect(all.readyTo(everything)).toBe(4);
    listeners.deliveries.nack("5", { code: 3, message: "no" });
    expect(all.readyTo(everything)).toBe(Number.POSITIVE_INFINITY);
    expect(all.isEmpty).toBe(true);
  });

  test("of which the first one counts that is still in use", () => {
    const all = waiting();
    send(all, answer(LISTENER, 8, [listener("l", "s"), listener("m", "t")]));
    expect(all.readyTo(nothing)).toBe(4);
    // On one stream the route arrived while the former version was the newest; on separate streams nobody knows.
    all.accept(routes, brings(7, "r"), separate);
    expect(all.readyTo(nothing)).toBe(4);
    all.accept(routes, brings(7, "r"), aggregated);
    expect(all.readyTo(nothing)).toBe(7);
    // A former version is not ready because its route is settled by now.
    const other = waiting();
    send(other, answer(LISTENER, 8, [listener("l", "s")]));
    expect(other.readyTo(({ name }) => name === "r")).toBe(4);
    expect(other.readyTo(({ name }) => name === "s")).toBe(Number.POSITIVE_INFINITY);
  });

  test("and a newer one may replace it that was brought after the routes of the former", () => {
    const all = waiting();
    send(all, answer(LISTENER, 8, [listener("l", "s")]));
    all.accept(routes, brings(9, "r"), aggregated);
    expect(all.readyTo(nothing)).toBe(4);
    all.accept(routes, brings(9, "s"), separate);
    expect(all.readyTo(nothing)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("S-ORD-05: a Listener that waits", () => {
  test("is replaced by its removal, once that is ACKed", () => {
    const all = waiting();
    const removal = answer(LISTENER, 8, [], { removed: ["l"] });
    send(all, removal, false);
    expect([all.readyTo(nothing), all.awaitedType]).toEqual([4, ROUTE]);
    const accepted = waiting();
    send(accepted, removal);
    expect(accepted.readyTo(nothing)).toBe(Number.POSITIVE_INFINITY);
  });

  test("is removed by a full state that does not list it, and by no other response", () => {
    const after = (variant: "sotw" | "delta", ...listed: readonly string[]): number => {
      const all = waiting();
      send(
        all,
        answer(
          LISTENER,
          8,
          listed.map((name) => listener(name, "r")),
          { variant },
        ),
      );
      return all.readyTo(nothing);
    };
    expect([after("sotw"), after("sotw", "l"), after("delta"), after("sotw", "m")]).toEqual([
      Number.POSITIVE_INFINITY,
      4,
      4,
      7,
    ]);
  });

  test("is tracked with its eight oldest versions and its newest", () => {
    const all = waiting();
    for (let at = 6; at <= 20; at++) send(all, answer(LISTENER, at, [listener("l", `r${at}`)]));
    expect(all.readyTo(nothing)).toBe(4);
    expect(all.readyTo(({ name }) => name === "r19")).toBe(4);
    expect(all.readyTo(({ name }) => name === "r20")).toBe(Number.POSITIVE_INFINITY);
  });

  test("is forgotten with its stream, and with no other", () => {
    const all = waiting();
    all.leave(routes);
    expect(all.isEmpty).toBe(false);
    all.leave(listeners);
    expect(all.isEmpty).toBe(true);
  });
});
