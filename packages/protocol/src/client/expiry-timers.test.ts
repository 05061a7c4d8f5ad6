import { describe, expect, test } from "vitest";
import { ClientStory, change, empty, received, sourceOf, started, whole } from "../../test/support/client-story.ts";
import { CLUSTER, ENDPOINTS } from "../../test/support/resources.ts";
import type { ClientDialect } from "../dialect/client-dialect.ts";

function deltaStory(dialect: Partial<ClientDialect> = {}): ClientStory {
  const story = new ClientStory(sourceOf({ variant: "delta", dialect }));
  story.watch(1, ENDPOINTS, "a");
  story.open(1);
  return story;
}

function told(ttlMs: number | undefined, label = "1"): Parameters<ClientStory["receive"]>[1] {
  return change(ENDPOINTS, "n1", { resources: [received("a", label, { ttlMs })] });
}

describe("a ttl", () => {
  test("C-TTL-05 starts anew with each arrival, and ends with one that has none", () => {
    const story = deltaStory();
    story.receive(1, told(1_000));
    story.pass(900);
    story.receive(1, told(1_000));
    expect(story.pass(999)).toEqual([]);
    story.receive(1, told(undefined));
    expect(story.timers).toEqual([]);
    story.receive(1, told(1_000));
    story.receive(1, told(300));
    expect(story.timers).toEqual([300]);
    expect(story.pass(300)).toEqual(["1: absent a expired"]);
  });

  test("C-TTL-06 C-REC-14 C-TTL-07 runs out without a connection, and nothing is sent for it", () => {
    const story = deltaStory();
    story.receive(1, told(1_000, "1"));
    story.receive(1, told(1_000, "2"));
    expect(story.pass(1_000)).toEqual(["1: absent a expired"]);
    expect(story.reported("resource-expired")).toEqual([
      { kind: "resource-expired", source: "ads", type: ENDPOINTS, name: "a" },
    ]);
    story.receive(1, told(1_000, "3"));
    story.close(1);
    expect(story.pass(250)).toEqual(["open 2"]);
    expect(story.pass(750)).toEqual(["1: absent a expired"]);
    expect(story.open(2)).toEqual(["2> ClusterLoadAssignment +a (me)"]);
  });

  test("C-TTL-07 a version of which something expired is not told to a new stream", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1", { ttlMs: 100 }), received("b", "1")]));
    story.pass(100);
    story.close(1);
    story.pass(250);
    expect(story.open(2)).toEqual(["2> Cluster [] (me)"]);
  });

  test("C-TTL-10 C-NEX-08 a heartbeat touches the timer, and is acknowledged", () => {
    const story = deltaStory();
    story.receive(1, told(1_000));
    story.pass(900);
    const beat = change(ENDPOINTS, "n2", { resources: [empty("a", "1", { ttlMs: 1_000 })] });
    expect(story.receive(1, beat)).toEqual(["1> ClusterLoadAssignment n2"]);
    expect(story.pass(999)).toEqual([]);
    expect(story.pass(1)).toEqual(["1: absent a expired"]);
  });

  test("C-TTL-10 C-DLT-15 a heartbeat that names no aliases is one for those who know it by an alias", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, ENDPOINTS, "b");
    story.open(1);
    const held = received("a", "1", { aliases: ["b"], ttlMs: 1_000 });
    story.receive(1, change(ENDPOINTS, "n1", { resources: [held] }));
    story.pass(900);
    story.receive(1, change(ENDPOINTS, "n2", { resources: [empty("a", "1", { ttlMs: 1_000 })] }));
    expect(story.pass(999)).toEqual([]);
    expect(story.pass(1)).toEqual(["1: absent a expired"]);
  });

  test("C-TTL-15 a heartbeat of what is not held is refused, or says that there is none", () => {
    const beat = change(ENDPOINTS, "n2", { resources: [empty("a", "9", { ttlMs: 1_000 })] });
    expect(deltaStory().receive(1, beat)).toEqual([
      '1: failed a rejected: a heartbeat of version "9", which is not held',
      '1> ClusterLoadAssignment n2 !a: a heartbeat of version "9", which is not held',
    ]);
    expect(deltaStory({ badHeartbeat: "missing" }).receive(1, beat)).toEqual([
      "1: absent a does-not-exist",
      "1> ClusterLoadAssignment n2",
    ]);
    const refused = deltaStory();
    refused.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "9", { problem: "bad" })] }));
    expect(refused.receive(1, beat)[0]).toMatch(/^1: failed a rejected: a heartbeat /);
    const unwanted = change(ENDPOINTS, "n3", { resources: [empty("x", "9", { ttlMs: 1_000 })] });
    expect(deltaStory().receive(1, unwanted)).toEqual(["1> ClusterLoadAssignment n3"]);
  });

  test("C-TTL-15 C-DEL-10 a heartbeat of what was deleted, and goes on being used, is one of what is not there", () => {
    const story = new ClientStory(sourceOf({ variant: "delta", dialect: { ignoreDeletion: true } }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, change(CLUSTER, "n1", { resources: [received("a", "1", { ttlMs: 1_000 })] }));
    story.receive(1, change(CLUSTER, "n2", { removed: ["a"] }));
    const why = 'a heartbeat of version "1", which is not held';
    expect(story.receive(1, change(CLUSTER, "n3", { resources: [empty("a", "1", { ttlMs: 9_000 })] }))).toEqual([
      `1: failed a rejected: ${why} (holds a@1)`,
      `1> Cluster n3 !a: ${why}`,
    ]);
    expect(story.timers).toEqual([1_000]);
  });

  test("C-TTL-11 C-TTL-13 in State of the World a heartbeat of the version that it came with keeps it", () => {
    const story = new ClientStory();
    story.on(started(1, CLUSTER, "*"));
    story.open(1);
    const wrapped = received("a", "own", { ttlMs: 1_000 });
    story.receive(1, whole(CLUSTER, "7", "n1", [wrapped, received("b", "1")]));
    story.pass(900);
    const beat = empty("a", "7", { ttlMs: 1_000 });
    expect(story.receive(1, whole(CLUSTER, "7", "n2", [beat, received("b", "1")]))).toEqual(["1> Cluster [] v7 n2"]);
    expect(story.pass(900)).toEqual([]);
    expect(story.states).toEqual(["Cluster a@own acked", "Cluster b@1 acked"]);
  });

  test("B-TTL-19 of nothing or less is refused", () => {
    expect(deltaStory().receive(1, told(0))).toEqual([
      "1: failed a rejected: expected a ttl above 0, got 0 ms",
      "1> ClusterLoadAssignment n1 !a: expected a ttl above 0, got 0 ms",
    ]);
  });

  test("C-TTL-05 is not kept by an edition that knows none", () => {
    const story = deltaStory({ ttl: false });
    expect(story.receive(1, told(0))).toEqual(["1: changed a@1", "1> ClusterLoadAssignment n1"]);
    expect(story.timers).toEqual([]);
    expect(story.receive(1, change(ENDPOINTS, "n2", { resources: [empty("a", "1")] }))).toEqual([
      "1: absent a removed",
      "1> ClusterLoadAssignment n2",
    ]);
  });
});
