import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, EXTENSION, LISTENER, plain, resource } from "./support/resources.ts";

describe("S-DEL-04 S-ORD-05 a filter that its Listener exchanges for another, where removals wait for users", () => {
  const listener = (filter: string, label: string, ...clusters: readonly string[]): ReturnType<typeof resource> =>
    resource(LISTENER, "l", label, {
      references: [{ type: EXTENSION, name: filter }, ...clusters.map((name) => ({ type: CLUSTER, name }))],
    });
  const filter = (name: string): ReturnType<typeof resource> => resource(EXTENSION, name, "1");
  const deletes = [{ type: EXTENSION, name: "e0" }];

  /** An Envoy with a Listener that uses `e0`, in sync. */
  function withFilter(): Conversation {
    const deltaRemovals = { otherwise: "at-once", ecds: "when-unreferenced" } as const;
    const talk = new Conversation({ dialect: { orderLimitMs: 10_000, deltaRemovals } });
    talk.put(plain("old"), listener("e0", "1"), filter("e0"));
    talk.open(1, "delta");
    talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") });
    talk.ack(1, CLUSTER);
    talk.subscribe(1, LISTENER, []);
    talk.ack(1, LISTENER);
    talk.subscribe(1, EXTENSION, ["e0"]);
    talk.ack(1, EXTENSION);
    return talk;
  }

  const filtersOf = (talk: Conversation): unknown => {
    const [stream] = talk.machine.streams();
    const state = stream?.types.find(({ type }) => type === EXTENSION);
    return { wait: state?.wait, pendingRemovals: state?.pendingRemovals };
  };
  const awaiting = (type: string, isNacked = false): unknown => ({
    wait: { for: "users", type, isNacked },
    pendingRemovals: ["e0"],
  });

  test("is removed after the client has ACKed the Listener, and the filter that it uses now", () => {
    const talk = withFilter();
    talk.change({ puts: [plain("new"), listener("e1", "2", "new"), filter("e1")], deletes });
    expect(says(talk.turns())).toEqual([["new@1"]]);
    expect(filtersOf(talk)).toEqual(awaiting(CLUSTER));
    expect(says(talk.ack(1, CLUSTER))).toEqual([["l@2"]]);
    expect(filtersOf(talk)).toEqual(awaiting(LISTENER));
    expect(says(talk.subscribe(1, EXTENSION, ["e1"]))).toEqual([["e1@1"]]);
    expect(says(talk.ack(1, LISTENER))).toEqual([]);
    expect(says(talk.ack(1, EXTENSION))).toEqual([["-e0"]]);
    expect(filtersOf(talk)).toEqual({ wait: undefined, pendingRemovals: [] });
  });

  test("is not removed from a client that unsubscribes from it first", () => {
    const talk = withFilter();
    talk.change({ puts: [listener("e1", "2"), filter("e1")], deletes });
    talk.turns();
    talk.subscribe(1, EXTENSION, ["e1"]);
    talk.ack(1, LISTENER);
    expect(says(talk.unsubscribe(1, EXTENSION, ["e0"]))).toEqual([]);
    expect(says(talk.ack(1, EXTENSION))).toEqual([]);
  });

  test("stays while the Listener is NACKed, and until it is replaced", () => {
    const talk = withFilter();
    talk.change({ puts: [listener("e1", "2"), filter("e1")], deletes });
    expect(says(talk.turns())).toEqual([["l@2"]]);
    expect(says(talk.nack(1, LISTENER))).toEqual([]);
    expect(filtersOf(talk)).toEqual(awaiting(LISTENER, true));
    talk.put(listener("e2", "3"));
    expect(says(talk.turns())).toEqual([["l@3"]]);
    talk.put(filter("e2"));
    expect(says(talk.subscribe(1, EXTENSION, ["e2"]))).toEqual([["e2@1"]]);
    talk.ack(1, EXTENSION);
    expect(says(talk.ack(1, LISTENER))).toEqual([["-e0"]]);
  });

  test("stays as long as the newest Listener refers to it, and until the one after that is ACKed", () => {
    const talk = withFilter();
    talk.change({ deletes });
    expect(says(talk.turns())).toEqual([]);
    talk.put(listener("e1", "2"), filter("e1"));
    expect(says(talk.turns())).toEqual([["l@2"]]);
    talk.put(listener("e0", "3"));
    expect(says(talk.ack(1, LISTENER))).toEqual([["l@3"]]);
    expect(says(talk.ack(1, LISTENER))).toEqual([]);
    expect(filtersOf(talk)).toEqual({ wait: undefined, pendingRemovals: [] });
    talk.put(listener("e1", "4"));
    expect(says(talk.turns())).toEqual([["l@4"]]);
    talk.subscribe(1, EXTENSION, ["e1"]);
    talk.ack(1, EXTENSION);
    expect(says(talk.ack(1, LISTENER))).toEqual([["-e0"]]);
  });

  test("is removed at once if no Listener changed", () => {
    const talk = withFilter();
    talk.put(filter("unused"));
    talk.subscribe(1, EXTENSION, ["unused"]);
    talk.ack(1, EXTENSION);
    talk.delete(EXTENSION, "unused");
    expect(says(talk.turns())).toEqual([["-unused"]]);
  });

  test("is removed when the client does not answer for too long", () => {
    const talk = withFilter();
    talk.change({ puts: [listener("e1", "2"), filter("e1")], deletes });
    expect(says(talk.turns())).toEqual([["l@2"]]);
    expect(says(talk.pass(10_000))).toEqual([["-e0"]]);
  });

  test("does not let its successor go before a Cluster that this needs", () => {
    const talk = withFilter();
    talk.put(filter("e1"));
    talk.subscribe(1, EXTENSION, ["e1"]);
    talk.ack(1, EXTENSION);
    talk.change({ puts: [listener("e1", "2")], deletes });
    expect(says(talk.turns())).toEqual([["l@2"]]);
    talk.put(plain("new"), resource(EXTENSION, "e1", "2", { references: [{ type: CLUSTER, name: "new" }] }));
    expect(says(talk.turns())).toEqual([["new@1"]]);
    expect(filtersOf(talk)).toEqual({ wait: { for: "cluster", name: "new" }, pendingRemovals: ["e0"] });
    expect(says(talk.ack(1, CLUSTER))).toEqual([["e1@2"]]);
    expect(says(talk.ack(1, LISTENER))).toEqual([]);
    expect(says(talk.ack(1, EXTENSION))).toEqual([["-e0"]]);
  });

  test("is not removed from a client that comes back with it before that has ACKed the Listener", () => {
    const talk = withFilter();
    talk.close(1);
    talk.change({ puts: [listener("e1", "2"), filter("e1")], deletes });
    talk.open(2, "delta");
    const holding = (name: string): ReturnType<typeof initialVersionsOf> => initialVersionsOf([[name, "1"]]);
    talk.subscribe(2, CLUSTER, [], { node: node("n", "envoy"), initialVersions: holding("old") });
    talk.subscribe(2, LISTENER, [], { initialVersions: holding("l") });
    expect(says(talk.subscribe(2, EXTENSION, ["e0"], { initialVersions: holding("e0") }))).toEqual([[]]);
    talk.subscribe(2, EXTENSION, ["e1"]);
    talk.ack(2, EXTENSION);
    talk.ack(2, LISTENER);
    expect(filtersOf(talk)).toEqual({ wait: { for: "return" }, pendingRemovals: ["e0"] });
  });
});
