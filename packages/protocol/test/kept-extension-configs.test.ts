import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, EXTENSION, LISTENER, plain, resource } from "./support/resources.ts";

describe("S-DEL-04 the deletion of an extension configuration is not told to an Envoy that subscribes to it", () => {
  const listener = (filter: string, label: string, ...clusters: readonly string[]): Resource =>
    resource(LISTENER, "l", label, {
      references: [{ type: EXTENSION, name: filter }, ...clusters.map((name) => ({ type: CLUSTER, name }))],
    });
  const filter = (name: string, label = "1"): Resource => resource(EXTENSION, name, label);
  const deleted = (name: string): { readonly type: typeof EXTENSION; readonly name: string } => ({
    type: EXTENSION,
    name,
  });

  /** An Envoy with a Listener that uses `e0` and the Cluster `old`, in sync. */
  function withFilter(): Conversation {
    const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
    talk.put(plain("old"), listener("e0", "1", "old"), filter("e0"));
    talk.open(1, "delta");
    talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") });
    talk.ack(1, CLUSTER);
    talk.subscribe(1, LISTENER, []);
    talk.ack(1, LISTENER);
    talk.subscribe(1, EXTENSION, ["e0"]);
    talk.ack(1, EXTENSION);
    return talk;
  }

  const waitsOf = (talk: Conversation): unknown => {
    const [stream] = talk.machine.streams();
    return stream?.types.flatMap(({ wait, pendingRemovals }) => [...(wait ? [wait] : []), ...pendingRemovals]);
  };

  test("when its Listener uses another: the former one drains, and its Clusters are removed meanwhile", () => {
    const talk = withFilter();
    const deletes = [deleted("e0"), { type: CLUSTER, name: "old" }];
    talk.change({ puts: [plain("new"), listener("e1", "2", "new"), filter("e1")], deletes });
    expect(says(talk.turns())).toEqual([["new@1"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["l@2"]]);
    expect(says(talk.subscribe(1, EXTENSION, ["e1"]))).toEqual([["e1@1"]]);
    expect(says(talk.ack(1, LISTENER))).toEqual([]);
    expect(says(talk.ack(1, EXTENSION))).toEqual([["-old"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([]);
    expect([waitsOf(talk), says(talk.pass(10_000))]).toEqual([[], []]);
    expect(says(talk.unsubscribe(1, EXTENSION, ["e0"]))).toEqual([]);
    talk.put(filter("e0", "2"));
    expect(says(talk.turns())).toEqual([]);
  });

  test("while its Listener goes on using it, nor when that uses another later", () => {
    const talk = withFilter();
    talk.delete(EXTENSION, "e0");
    expect([says(talk.turns()), waitsOf(talk)]).toEqual([[], []]);
    talk.put(listener("e1", "2", "old"), filter("e1"));
    expect(says(talk.turns())).toEqual([["l@2"]]);
    talk.subscribe(1, EXTENSION, ["e1"]);
    talk.ack(1, EXTENSION);
    expect([says(talk.ack(1, LISTENER)), waitsOf(talk)]).toEqual([[], []]);
  });

  test("where the server knows of no Listener that uses it, such as one of the bootstrap", () => {
    const talk = withFilter();
    talk.put(filter("e1"));
    talk.subscribe(1, EXTENSION, ["e1"]);
    talk.ack(1, EXTENSION);
    talk.delete(EXTENSION, "e1");
    expect([says(talk.turns()), waitsOf(talk)]).toEqual([[], []]);
  });

  test("but what exists again is sent, also as it was", () => {
    const talk = withFilter();
    talk.delete(EXTENSION, "e0");
    talk.turns();
    talk.put(filter("e0"));
    expect(says(talk.turns())).toEqual([["e0@1"]]);
  });

  test("nor is it when the Envoy comes back with it", () => {
    const talk = withFilter();
    talk.close(1);
    talk.change({ puts: [listener("e1", "2", "old"), filter("e1")], deletes: [deleted("e0")] });
    talk.open(2, "delta");
    const holding = (name: string): ReturnType<typeof initialVersionsOf> => initialVersionsOf([[name, "1"]]);
    talk.subscribe(2, CLUSTER, [], { node: node("n", "envoy"), initialVersions: holding("old") });
    talk.ack(2, CLUSTER);
    expect(says(talk.subscribe(2, LISTENER, [], { initialVersions: holding("l") }))).toEqual([["l@2"]]);
    expect(says(talk.subscribe(2, EXTENSION, ["e0"], { initialVersions: holding("e0") }))).toEqual([]);
    expect(says(talk.subscribe(2, EXTENSION, ["e1"]))).toEqual([["e1@1"]]);
    talk.ack(2, EXTENSION);
    talk.ack(2, LISTENER);
    expect([says(talk.pass(60_000)), waitsOf(talk)]).toEqual([[], []]);
  });
});
