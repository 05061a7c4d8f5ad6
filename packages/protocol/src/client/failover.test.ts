import { describe, expect, test } from "vitest";
import { ClientStory, change, empty, received, sourceOf, started, whole } from "../../test/support/client-story.ts";
import { CLUSTER, ENDPOINTS } from "../../test/support/resources.ts";
import type { KeptResource } from "./held.ts";

function kept(name: string, label: string): KeptResource {
  const bytes = new TextEncoder().encode(`${name}=${label}`);
  return { type: CLUSTER, name, aliases: [], version: label, bytes };
}

describe("several servers, one after the other", () => {
  test("C-CFG-08 C-RST-17 each failure goes on to the next, and all failing is told", () => {
    const story = new ClientStory(sourceOf({ servers: 2 }));
    expect(story.watch(1, CLUSTER, "*")).toEqual(["open 1"]);
    expect(story.close(1)).toEqual([]);
    expect(story.pass(1_000)).toEqual(["open 2 at 1"]);
    expect(story.close(2)).toEqual(["1: failed all unreachable: gone"]);
    expect(story.pass(1_000)).toEqual(["open 3"]);
    story.open(3);
    story.receive(3, whole(CLUSTER, "1", "n1", []));
    expect(story.reported("server-chosen")).toEqual([{ kind: "server-chosen", source: "ads", server: 0 }]);
    story.close(3);
    expect(story.pass(1_000)).toEqual(["open 4"]);
  });

  test("C-FBK-04 B-VER-03 another server is told no version of the first, and replaces what that said", () => {
    const story = new ClientStory(sourceOf({ servers: 2 }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1"), received("b", "1")]));
    story.close(1);
    story.pass(1_000);
    story.close(2);
    story.pass(1_000);
    expect(story.open(3)).toEqual(["3> Cluster [] (me)"]);
    expect(story.receive(3, whole(CLUSTER, "1", "n1", [received("a", "1"), received("c", "1")]))).toEqual([
      "1: absent b removed",
      "1: changed c@1",
      "3> Cluster [] v1 n1",
    ]);
  });

  test("C-FBK-04 in delta what is held of another server is named without a version", () => {
    const story = new ClientStory(sourceOf({ servers: 2, variant: "delta" }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, change(CLUSTER, "n1", { resources: [received("a", "1")] }));
    story.close(1);
    story.pass(1_000);
    story.close(2);
    story.pass(1_000);
    expect(story.open(3)).toEqual(["3> Cluster {a@} (me)"]);
  });

  test.each(["sotw", "delta"] as const)(
    "C-FBK-04 a name that another server does not know does not exist: %s",
    (variant) => {
      const story = new ClientStory(sourceOf({ servers: 2, variant }));
      story.watch(1, ENDPOINTS, "a");
      story.open(1);
      const resources = [received("a", "1")];
      const isSotw = variant === "sotw";
      story.receive(1, isSotw ? whole(ENDPOINTS, "1", "n1", resources) : change(ENDPOINTS, "n1", { resources }));
      story.close(1);
      story.pass(1_000);
      story.close(2);
      story.pass(1_000);
      story.open(3);
      expect(story.pass(15_000)).toEqual(["1: absent a does-not-exist"]);
      expect(story.states).toEqual(["ClusterLoadAssignment a does-not-exist"]);
    },
  );
});

test("C-ERR-10 C-FBK-04 what another server is silent about goes on being used where that says nothing of it", () => {
  const story = new ClientStory(sourceOf({ servers: 2, dialect: { timerIsTransient: true } }));
  story.watch(1, ENDPOINTS, "a");
  story.open(1);
  story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
  story.close(1);
  story.pass(1_000);
  story.close(2);
  story.pass(1_000);
  story.open(3);
  expect(story.pass(30_000)).toEqual(["1: failed a timeout: nothing came in time (holds a@1)"]);
  expect(story.states).toEqual(["ClusterLoadAssignment a@1 timeout: nothing came in time"]);
});

describe("servers that are used only if better ones fail", () => {
  test("C-FBK-03 the next one is used at once, the better one is tried meanwhile, and taken when it answers", () => {
    const story = new ClientStory(sourceOf({ servers: 3, failover: "fallback" }));
    story.watch(1, CLUSTER, "*");
    expect(story.close(1)).toEqual(["open 2 at 1"]);
    expect(story.close(2)).toEqual(["open 3 at 2"]);
    expect(story.open(3)).toEqual(["3> Cluster [] (me)"]);
    story.receive(3, whole(CLUSTER, "7", "n1", [received("a", "1")]));
    expect(story.pass(250)).toEqual(["open 4", "open 5 at 1"]);
    expect(story.open(4)).toEqual(["4> Cluster [] (me)"]);
    expect(story.receive(3, whole(CLUSTER, "8", "n2", [received("a", "2")]))).toEqual([
      "1: changed a@2",
      "3> Cluster [] v8 n2",
    ]);
    expect(story.receive(4, whole(CLUSTER, "1", "m1", [received("b", "1")]))).toEqual([
      "close 5",
      "close 3",
      "1: absent a removed",
      "1: changed b@1",
      "4> Cluster [] v1 m1",
    ]);
    expect(story.reported("server-chosen").map(({ server }) => server)).toEqual([2, 0]);
    expect(story.timers).toEqual([]);
  });

  test("C-FBK-04 a worse one is neither heard nor waited for once a better one answered", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback" }));
    story.on(started(1, ENDPOINTS, "a"), started(2, ENDPOINTS, "b"));
    story.close(1);
    story.open(2);
    story.pass(250);
    story.open(3);
    story.pass(1_000);
    story.receive(3, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    expect(story.timers).toEqual([14_000]);
    expect(story.receive(2, whole(ENDPOINTS, "7", "m1", [received("a", "7")]))).toEqual([]);
    expect(story.close(2)).toEqual([]);
    expect(story.states).toEqual(["ClusterLoadAssignment a@1 acked", "ClusterLoadAssignment b requested"]);
  });

  test("C-FBK-03 all failing is told, and a stream that was answered on is no failure", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback" }));
    story.watch(1, CLUSTER, "*");
    expect(story.close(1)).toEqual(["open 2 at 1"]);
    expect(story.close(2)).toEqual(["1: failed all unreachable: gone"]);
    story.pass(250);
    story.open(3);
    story.receive(3, whole(CLUSTER, "1", "n1", []));
    expect(story.close(3)).toEqual([]);
    expect(story.pass(250)).toEqual(["open 5"]);
  });

  test("C-FBK-03 the next one is used at once, also if everything is held", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback" }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    story.close(1);
    story.pass(250);
    expect(story.close(2)).toEqual(["open 3 at 1"]);
  });

  test("C-FBK-04 a better one that is silent takes nothing away as long as another one answers", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback" }));
    story.on(started(1, ENDPOINTS, "a"), started(2, CLUSTER, "b"));
    story.close(1);
    story.open(2);
    story.receive(2, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    story.receive(2, whole(CLUSTER, "1", "n2", [received("b", "1")]));
    story.pass(250);
    expect(story.open(3)).toHaveLength(2);
    expect(story.pass(60_000)).toEqual([]);
    expect(story.receive(3, whole(CLUSTER, "7", "m1", [received("b", "1")]))).toEqual([
      "close 2",
      "3> Cluster [b] v7 m1",
    ]);
    expect(story.pass(15_000)).toEqual(["1: absent a does-not-exist"]);
    expect(story.timers).toEqual([]);
  });

  test("C-NEX-02 what several servers are silent about does not exist", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback" }));
    story.watch(1, ENDPOINTS, "a");
    story.close(1);
    story.open(2);
    story.pass(250);
    story.open(3);
    expect(story.pass(15_000)).toEqual(["1: absent a does-not-exist"]);
  });

  test("nothing is tried any more once nobody wants anything", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback" }));
    story.watch(1, CLUSTER, "*");
    story.close(1);
    expect(story.stop(1)).toEqual(["close 2"]);
    expect(story.timers).toEqual([]);
    expect(story.watch(2, CLUSTER, "*")).toEqual(["open 3"]);
  });

  test("C-FBK-02 the next one is used only if something that is wanted is not held", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback-when-missing" }));
    story.watch(1, CLUSTER, "a");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    story.close(1);
    story.pass(250);
    expect(story.close(2)).toEqual(["1: failed all unreachable: gone"]);
    expect(story.watch(2, CLUSTER, "b")).toEqual(["2: failed all unreachable: gone", "open 3 at 1"]);
    expect(story.open(3)).toEqual(["3> Cluster [a,b] (me)"]);
  });

  test.each(["cycle", "fallback", "fallback-when-missing"] as const)(
    "C-FBK-01 C-FBK-02 a connected server that is silent is not left for the next: %s",
    (failover) => {
      const story = new ClientStory(sourceOf({ servers: 2, failover }));
      story.on(started(1, CLUSTER, "*"), started(2, ENDPOINTS, "e"));
      expect(story.open(1)).toHaveLength(2);
      expect(story.pass(60_000)).toEqual(["2: absent e does-not-exist"]);
      expect(story.timers).toEqual([]);
    },
  );

  test("C-FBK-02 one type of which something is missing is enough", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback-when-missing" }));
    story.on(started(1, CLUSTER, "a"), started(2, ENDPOINTS, "e"));
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    story.close(1);
    story.pass(250);
    expect(story.close(2)).toEqual(["open 3 at 1"]);
  });

  test("C-FBK-02 everything is missing until it was told", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback-when-missing" }));
    story.watch(1, CLUSTER, "*");
    expect(story.close(1)).toEqual(["open 2 at 1"]);
    const told = new ClientStory(sourceOf({ servers: 2, failover: "fallback-when-missing" }));
    told.watch(1, CLUSTER, "*");
    told.open(1);
    told.receive(1, whole(CLUSTER, "1", "n1", []));
    told.close(1);
    told.pass(250);
    expect(told.close(2)).toEqual(["1: failed all unreachable: gone"]);
    const passing = [started(2, CLUSTER, "b"), { kind: "watch-stopped", watch: 2 } as const];
    expect(told.on(...passing)).toEqual(["2: failed all unreachable: gone"]);
  });

  test("C-FBK-02 what is known not to exist, or was refused, is nothing to ask a worse server for", () => {
    const spec = sourceOf({ servers: 2, failover: "fallback-when-missing" });
    const bad = received("a", "1", { problem: "bad" });
    const stories = [[], [bad]].map((resources) => {
      const story = new ClientStory(spec);
      story.watch(1, ENDPOINTS, "a");
      story.open(1);
      story.receive(1, whole(ENDPOINTS, "1", "n1", resources));
      story.pass(15_000);
      story.close(1);
      story.pass(250);
      return story.close(2);
    });
    const told = ["1: failed all unreachable: gone"];
    expect(stories).toEqual([told, told]);
  });
});

describe("what is known from an earlier life", () => {
  test("C-CLI-06 is used if no server can be reached at first, and confirmed by the first that can", () => {
    const story = new ClientStory();
    story.restore(kept("a", "1"), kept("b", "1"));
    expect(story.watch(1, CLUSTER, "*")).toEqual(["open 1"]);
    expect(story.close(1)).toEqual([
      "1: changed a@1 (restored)",
      "1: changed b@1 (restored)",
      "1: failed all unreachable: gone",
      "1: synced",
    ]);
    expect(story.watch(2, CLUSTER, "a", { wantsConfirmations: true })).toEqual([
      "2: changed a@1 (restored)",
      "2: failed all unreachable: gone",
    ]);
    story.pass(250);
    expect(story.open(2)).toEqual(["2> Cluster [] (me)"]);
    expect(story.receive(2, whole(CLUSTER, "1", "n1", [received("a", "1")]))).toEqual([
      "1: recovered",
      "2: recovered",
      "1: absent b removed",
      "2: confirmed a@1",
      "2> Cluster [] v1 n1",
    ]);
  });

  test("C-CLI-06 C-NEX-02 is waited for in State of the World, and does not exist if no server knows it", () => {
    const story = new ClientStory();
    story.restore(kept("a", "1"), kept("b", "1"));
    story.watch(1, CLUSTER, "a");
    expect(story.close(1)).toEqual(["1: changed a@1 (restored)", "1: failed all unreachable: gone"]);
    expect(story.states).toEqual(["Cluster a@1 (restored) acked"]);
    story.pass(250);
    story.open(2);
    expect(story.pass(15_000)).toEqual(["1: recovered", "1: absent a does-not-exist"]);
  });

  test("C-CLI-06 is told to a server in delta, which says what is gone", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, CLUSTER, "*");
    story.watch(2, CLUSTER, "a", { wantsConfirmations: true });
    story.close(1);
    expect(story.restore(kept("a", "1"), kept("b", "1"))).toEqual([
      "2: changed a@1 (restored)",
      "1: changed a@1 (restored)",
      "1: changed b@1 (restored)",
      "1: synced",
    ]);
    story.pass(250);
    expect(story.open(2)).toEqual(["2> Cluster +* +a {a@1,b@1} (me)"]);
    // Only for the end of the outage.
    expect(story.timers).toEqual([15_000]);
    expect(story.receive(2, change(CLUSTER, "n1", { removed: ["b"] }))).toEqual([
      "1: recovered",
      "2: recovered",
      "1: absent b removed",
      "2: confirmed a@1",
      "2> Cluster n1",
    ]);
    expect(story.states).toEqual(["Cluster a@1 acked"]);
  });

  test("C-CLI-06 C-CLI-03 only what a server in delta neither changed nor took back is told as confirmed", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    for (const [watch, name] of ["same", "changed", "gone"].entries()) {
      story.watch(watch, CLUSTER, name, { wantsConfirmations: true });
    }
    story.close(1);
    story.restore(kept("same", "1"), kept("changed", "1"), kept("gone", "1"));
    story.pass(250);
    story.open(2);
    story.receive(2, change(CLUSTER, "n1", { problems: ["bad"] }));
    expect(story.states).toEqual([
      "Cluster same@1 (restored) acked",
      "Cluster changed@1 (restored) acked",
      "Cluster gone@1 (restored) acked",
    ]);
    const good = change(CLUSTER, "n2", { resources: [received("changed", "2")], removed: ["gone"] });
    expect(story.receive(2, good)).toEqual([
      "2: absent gone removed",
      "1: changed changed@2",
      "0: confirmed same@1",
      "2> Cluster n2",
    ]);
    expect(story.states).toEqual(["Cluster same@1 acked", "Cluster changed@2 acked", "Cluster gone does-not-exist"]);
  });

  test("C-CLI-06 C-DEL-10 what a server in delta took back is not told as confirmed, though it is held on to", () => {
    const story = new ClientStory(sourceOf({ variant: "delta", dialect: { ignoreDeletion: true } }));
    story.watch(1, CLUSTER, "a", { wantsConfirmations: true });
    story.close(1);
    story.restore(kept("a", "1"));
    story.pass(250);
    story.open(2);
    expect(story.receive(2, change(CLUSTER, "n1", { removed: ["a"] }))).toEqual([
      "1: recovered",
      "1: absent a removed (holds a@1 (restored))",
      "2> Cluster n1",
    ]);
  });

  test("C-CLI-06 C-CLI-08 is not confirmed where the same answer changes it or takes it back", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, CLUSTER, "*", { wantsConfirmations: true });
    story.close(1);
    story.restore(kept("a", "1"), kept("b", "1"), kept("c", "1"), kept("d", "1"));
    story.pass(250);
    story.open(2);
    const answer = change(CLUSTER, "n1", { resources: [received("a", "2"), received("c", "1")], removed: ["b"] });
    expect(story.receive(2, answer)).toEqual([
      "1: recovered",
      "1: absent b removed",
      "1: changed a@2",
      "1: confirmed c@1",
      "1: confirmed d@1",
      "2> Cluster n1",
    ]);
    expect(story.states).toEqual(["Cluster a@2 acked", "Cluster c@1 acked", "Cluster d@1 acked"]);
  });

  test("C-CLI-06 C-TTL-10 is confirmed by a heartbeat, which is told of nothing else", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, CLUSTER, "*", { wantsConfirmations: true });
    story.close(1);
    story.restore(kept("a", "1"));
    story.pass(250);
    story.open(2);
    const beat = change(CLUSTER, "n1", { resources: [empty("a", "1", { ttlMs: 1_000 })] });
    expect(story.receive(2, beat)).toEqual(["1: recovered", "1: confirmed a@1", "2> Cluster n1"]);
    expect(story.receive(2, beat)).toEqual(["2> Cluster n1"]);
  });

  test("C-CLI-06 B-ACK-08 is confirmed by the first answer that is accepted, and only once", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, CLUSTER, "*", { wantsConfirmations: true });
    story.close(1);
    story.restore(kept("a", "1"));
    story.pass(250);
    story.open(2);
    const bad = change(CLUSTER, "n1", { resources: [received("b", "1", { problem: "bad" })], removed: ["a"] });
    expect(story.receive(2, bad)).toEqual(["1: recovered", "1: failed b rejected: bad", "2> Cluster n1 !b: bad"]);
    expect(story.receive(2, change(CLUSTER, "n2", {}))).toEqual(["1: confirmed a@1", "2> Cluster n2"]);
    expect(story.receive(2, change(CLUSTER, "n3", {}))).toEqual(["2> Cluster n3"]);
  });

  test("C-CLI-06 is not used before an attempt failed, however late it comes", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    expect(story.restore(kept("a", "1"))).toEqual([]);
    expect(story.states).toEqual([]);
    expect(story.close(1)).toEqual(["1: changed a@1 (restored)", "1: failed all unreachable: gone", "1: synced"]);
  });

  test("C-CLI-06 C-REC-07 is no use once a server answered", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.restore(kept("a", "1"));
    story.watch(1, CLUSTER, "*");
    expect(story.open(1)).toEqual(["1> Cluster (me)"]);
    story.receive(1, change(CLUSTER, "n1", {}));
    story.close(1);
    story.pass(250);
    expect(story.close(2)).toEqual(["1: failed all unreachable: gone"]);
    expect(story.states).toEqual([]);
  });
});

describe("Clusters that are acknowledged when nothing warms any more", () => {
  const asEnvoy = sourceOf({ dialect: { cdsAckWhenWarm: true } });

  test("C-ACK-15 nothing of their type is said until then", () => {
    const story = new ClientStory(asEnvoy);
    story.watch(1, CLUSTER, "*");
    story.open(1);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]))).toEqual(["1: changed a@1", "1: synced"]);
    expect(story.on(started(2, ENDPOINTS, "a"), started(3, CLUSTER, "z"))).toEqual(["1> ClusterLoadAssignment [a]"]);
    expect(story.on({ kind: "warming-ended", source: "ads" })).toEqual(["1> Cluster [*,z] v1 n1"]);
    expect(story.receive(1, whole(CLUSTER, "2", "n2", [received("a", "1")]))).toEqual(["1> Cluster [*,z] v2 n2"]);
  });

  test("C-ACK-15 but a NACK is said at once, also if a resource was dropped", () => {
    const source = sourceOf({ dialect: { cdsAckWhenWarm: true, failOnDataErrors: true } });
    const story = new ClientStory(source);
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    story.on({ kind: "warming-ended", source: "ads" });
    expect(story.receive(1, whole(CLUSTER, "2", "n2", [received("a", "2", { problem: "bad" })]))).toEqual([
      "1: failed a rejected: bad",
      "1> Cluster [] v1 n2 !a: bad",
    ]);
  });

  test("C-ACK-15 unless told so they are acknowledged at once", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    story.open(1);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]))).toContain("1> Cluster [] v1 n1");
  });
});

describe("a source that is removed", () => {
  test("is forgotten once its streams are closed, and may be added again", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1", { ttlMs: 1_000 })]));
    const removed = { kind: "source-removed", source: "ads" } as const;
    expect(story.on(removed)).toEqual([]);
    expect(story.on({ kind: "watch-stopped", watch: 1 }, removed)).toEqual(["close 1", "forgot ads"]);
    expect([story.timers, story.states]).toEqual([[], []]);
    expect(story.on(removed)).toEqual([]);
    expect(() => story.watch(2, CLUSTER, "*")).toThrow("expected a source that was added, got ads");
    expect(story.on({ kind: "source-added", source: sourceOf() }, started(3, CLUSTER, "*"))).toEqual(["open 2"]);
    expect(story.open(2)).toEqual(["2> Cluster [] (me)"]);
  });

  test("with all that its streams wait for", () => {
    const story = new ClientStory(sourceOf({ servers: 2, failover: "fallback" }));
    story.watch(1, ENDPOINTS, "a");
    story.close(1);
    story.open(2);
    expect(story.timers).toHaveLength(2);
    const removed = { kind: "source-removed", source: "ads" } as const;
    expect(story.on({ kind: "watch-stopped", watch: 1 }, removed)).toEqual(["close 2", "forgot ads"]);
    expect(story.timers).toEqual([]);
  });
});
