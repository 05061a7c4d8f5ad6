import { describe, expect, test } from "vitest";
import {
  ClientStory,
  received,
  STRANGE,
  STRANGE_TWIN,
  sourceOf,
  started,
  whole,
} from "../../test/support/client-story.ts";
import { CLUSTER, ENDPOINTS, LISTENER } from "../../test/support/resources.ts";
import type { SourceSpec } from "./source.ts";

/** A story whose stream 1 is open, with these watched on it. */
function talking(watches: readonly (readonly [number, typeof CLUSTER, string])[], spec?: SourceSpec): ClientStory {
  const story = new ClientStory(...(spec === undefined ? [] : [spec]));
  story.on(...watches.map(([watch, type, term]) => started(watch, type, term)));
  story.open(1);
  return story;
}

describe("a conversation of State of the World", () => {
  test("C-ACK-02 C-NOD-01 C-NOD-02 asks, and acknowledges with the version and the nonce of what came", () => {
    const story = new ClientStory();
    expect(story.watch(1, CLUSTER, "*")).toEqual(["open 1"]);
    expect(story.open(1)).toEqual(["1> Cluster [] (me)"]);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]))).toEqual([
      "1: changed a@1",
      "1: synced",
      "1> Cluster [] v1 n1",
    ]);
  });

  test("C-ACK-03 C-ACK-04 C-CLI-04 refuses with the version before, and says why once", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    expect(story.receive(1, whole(ENDPOINTS, "2", "n2", [received("a", "2", { problem: "bad" })]))).toEqual([
      "1: failed a rejected: bad (holds a@1)",
      "1> ClusterLoadAssignment [a] v1 n2 !a: bad",
    ]);
    expect(story.states).toEqual(["ClusterLoadAssignment a@1 nacked: bad"]);
    expect(story.watch(2, ENDPOINTS, "b")).toEqual(["1> ClusterLoadAssignment [a,b] v1 n2"]);
    expect(story.receive(1, whole(ENDPOINTS, "3", "n3", [received("a", "3")]))).toEqual([
      "1: changed a@3",
      "1> ClusterLoadAssignment [a,b] v3 n3",
    ]);
    expect(story.states).toEqual(["ClusterLoadAssignment a@3 acked", "ClusterLoadAssignment b requested"]);
  });

  test("C-ACK-01 C-ACK-14 C-CLI-03 what is the same is acknowledged, and nobody is told but who wants to know", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    expect(story.watch(2, ENDPOINTS, "a", { wantsConfirmations: true })).toEqual(["2: changed a@1"]);
    expect(story.receive(1, whole(ENDPOINTS, "1", "n2", [received("a", "1")]))).toEqual([
      "2: confirmed a@1",
      "1> ClusterLoadAssignment [a] v1 n2",
    ]);
  });

  test("C-SUB-01 C-NON-02 C-UNS-01 tells the whole set with the newest nonce", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    expect(story.watch(2, ENDPOINTS, "b")).toEqual(["1> ClusterLoadAssignment [a,b]"]);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1"), received("b", "1")]));
    story.receive(1, whole(ENDPOINTS, "2", "n2", [received("a", "2")]));
    expect(story.stop(1)).toEqual(["1> ClusterLoadAssignment [b] v2 n2"]);
    expect(story.states).toEqual(["ClusterLoadAssignment b@1 acked"]);
  });

  test("C-CLI-01 C-CLI-02 the second watcher gets what is held and costs nothing, the last one ends it", () => {
    const story = talking([
      [1, ENDPOINTS, "a"],
      [9, CLUSTER, "*"],
    ]);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    expect(story.watch(2, ENDPOINTS, "a")).toEqual(["2: changed a@1"]);
    expect(story.stop(1)).toEqual([]);
    expect(story.stop(2)).toEqual(["1> ClusterLoadAssignment [] v1 n1"]);
    expect(story.states).toEqual([]);
    expect(story.stop(2)).toEqual([]);
  });

  test("the names of requests are one list as long as they are the same", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    story.receive(1, whole(ENDPOINTS, "1", "n1", []));
    story.watch(2, ENDPOINTS, "b");
    const lists = story.requests.map((request) => (request.kind === "sotw" ? request.names : []));
    expect(lists).toEqual([["a"], ["a"], ["a", "b"]]);
    expect(lists[1]).toBe(lists[0]);
  });

  test("C-CLI-01 what another one watches still is asked for on the next stream as well", () => {
    const story = talking([
      [1, ENDPOINTS, "a"],
      [2, ENDPOINTS, "a"],
    ]);
    story.stop(1);
    story.close(1);
    story.pass(250);
    expect(story.open(2)).toEqual(["2> ClusterLoadAssignment [a] (me)"]);
  });

  test("a name given up and wanted again in one turn stays held, and costs nothing", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    expect(story.on({ kind: "watch-stopped", watch: 1 }, started(2, ENDPOINTS, "a"))).toEqual(["2: changed a@1"]);
  });

  test("a name given up and wanted again before the server could be told stays held", () => {
    const story = talking([
      [1, ENDPOINTS, "a"],
      [9, CLUSTER, "*"],
    ]);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    story.on({ kind: "response-arrived", stream: 1, type: ENDPOINTS, nonce: "n2" });
    expect(story.stop(1)).toEqual([]);
    expect(story.watch(2, ENDPOINTS, "a")).toEqual(["2: changed a@1"]);
    expect(story.receive(1, whole(ENDPOINTS, "2", "n2", [received("a", "2")]))).toEqual([
      "2: changed a@2",
      "1> ClusterLoadAssignment [a] v2 n2",
    ]);
  });

  test("C-DEL-01 C-RES-17 C-CLI-08 of a full-state type what is left out is gone, and that is told first", () => {
    const story = talking([[1, CLUSTER, "*"]]);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1"), received("b", "1")]));
    expect(story.receive(1, whole(CLUSTER, "2", "n2", [received("c", "1"), received("b", "1")]))).toEqual([
      "1: absent a removed",
      "1: changed c@1",
      "1> Cluster [] v2 n2",
    ]);
    expect(story.receive(1, whole(CLUSTER, "3", "n3", []))).toEqual([
      "1: absent b removed",
      "1: absent c removed",
      "1> Cluster [] v3 n3",
    ]);
  });

  test("C-DEL-01 what was refused and is then left out is not there any more", () => {
    const story = talking([
      [1, CLUSTER, "a"],
      [2, CLUSTER, "b"],
    ]);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1", { problem: "bad" })]));
    expect(story.receive(1, whole(CLUSTER, "2", "n2", []))).toEqual([
      "1: absent a does-not-exist",
      "1> Cluster [a,b] v2 n2",
    ]);
    expect(story.states).toEqual(["Cluster a does-not-exist", "Cluster b requested"]);
  });

  test("C-DEL-01 C-RES-17 of everything, what was refused and is left out is told to nobody", () => {
    const story = talking([[1, CLUSTER, "*"]]);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1", { problem: "bad" })]));
    expect(story.receive(1, whole(CLUSTER, "2", "n2", []))).toEqual(["1: synced", "1> Cluster [] v2 n2"]);
    expect(story.states).toEqual([]);
  });

  test("C-DEL-10 what is left out and goes on being used is told to be gone once, until it expires", () => {
    const story = talking([[1, CLUSTER, "*"]], sourceOf({ dialect: { ignoreDeletion: true } }));
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1", { ttlMs: 1_000 })]));
    expect(story.receive(1, whole(CLUSTER, "2", "n2", []))).toEqual([
      "1: absent a removed (holds a@1)",
      "1> Cluster [] v2 n2",
    ]);
    expect(story.receive(1, whole(CLUSTER, "3", "n3", []))).toEqual(["1> Cluster [] v3 n3"]);
    expect(story.reported("response-accepted").map(({ isNews }) => isNews)).toEqual([true, true, false]);
    expect(story.pass(1_000)).toEqual(["1: absent a expired"]);
    expect(story.states).toEqual([]);
  });

  test("C-SUB-04 what nobody asked for is dropped and acknowledged", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    expect(story.receive(1, whole(ENDPOINTS, "1", "n1", [received("x", "1")]))).toEqual([
      "1> ClusterLoadAssignment [a] v1 n1",
    ]);
    expect(story.states).toEqual(["ClusterLoadAssignment a requested"]);
    expect(story.reported("response-accepted").map(({ isNews }) => isNews)).toEqual([false]);
  });

  test("C-TYP-13 a response of a type that was never asked for is neither acknowledged nor refused", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    expect(story.receive(1, whole(LISTENER, "1", "n1", [received("x", "1")]))).toEqual([]);
    expect(story.reported("response-ignored")).toEqual([{ kind: "response-ignored", source: "ads", type: LISTENER }]);
    expect(story.on({ kind: "response-arrived", stream: 1, type: LISTENER, nonce: "n2" })).toEqual([]);
    expect(story.receive(1, whole(LISTENER, "1", "n2", []))).toEqual([]);
  });

  test("C-TYP-13 a response that does not say of which type it is answers nothing on a stream of all types", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    expect(story.receive(1, whole(ENDPOINTS, "1", "n1", { type: undefined, resources: [] }))).toEqual([]);
    expect(story.reported("response-ignored")).toEqual([]);
  });

  test("C-TYP-13 what was judged in vain holds up nothing that is asked for later", () => {
    const story = new ClientStory();
    story.on(started(1, CLUSTER, "*"), started(2, ENDPOINTS, "a"), { kind: "watch-stopped", watch: 2 });
    story.open(1);
    story.on({ kind: "response-arrived", stream: 1, type: ENDPOINTS, nonce: "n1" });
    expect(story.watch(3, ENDPOINTS, "b")).toEqual([]);
    expect(story.receive(1, whole(ENDPOINTS, "1", "n1", [received("b", "1")]))).toEqual([
      "1> ClusterLoadAssignment [b]",
    ]);
    expect(story.reported("response-ignored")).toHaveLength(1);
  });

  test("B-ACK-08 C-VAL-05 nothing of a refused response is used, or all that is good", () => {
    const mixed = whole(CLUSTER, "2", "n2", [
      received("a", "2"),
      received("b", "2", { problem: "bad b" }),
      received("c", "2", { problem: "bad c" }),
    ]);
    const before = whole(CLUSTER, "1", "n1", [received("b", "1"), received("d", "1")]);
    const strict = talking([
      [1, CLUSTER, "*"],
      [2, CLUSTER, "a"],
    ]);
    strict.receive(1, before);
    expect(strict.receive(1, mixed)).toEqual([
      "1: failed b rejected: bad b (holds b@1)",
      "1: failed c rejected: bad c",
      "2: failed a rejected: b: bad b; c: bad c",
      "1> Cluster [*,a] v1 n2 !b: bad b; c: bad c",
    ]);
    expect(strict.states).toEqual([
      "Cluster b@1 nacked: bad b",
      "Cluster d@1 acked",
      "Cluster c nacked: bad c",
      "Cluster a requested",
    ]);
    const lenient = talking([[1, CLUSTER, "*"]], sourceOf({ dialect: { nackPolicy: "apply-valid" } }));
    lenient.receive(1, before);
    expect(lenient.receive(1, mixed)).toEqual([
      "1: absent d removed",
      "1: changed a@2",
      "1: failed b rejected: bad b (holds b@1)",
      "1: failed c rejected: bad c",
      "1> Cluster [] v1 n2 !b: bad b; c: bad c",
    ]);
    // What is in force now is no version of the server.
    lenient.close(1);
    lenient.pass(250);
    expect(lenient.open(2)).toEqual(["2> Cluster [] (me)"]);
  });

  test("C-OBS-01 what was accepted is reported", () => {
    const story = talking([[1, CLUSTER, "*"]]);
    story.receive(1, whole(CLUSTER, "1", "n1", { resources: [received("a", "1")], controlPlane: "cp" }));
    expect(story.reported("response-accepted")).toEqual([
      {
        kind: "response-accepted",
        source: "ads",
        type: CLUSTER,
        version: "1",
        controlPlane: "cp",
        resources: 1,
        removed: 0,
        isNews: true,
      },
    ]);
  });

  test("B-ACK-08 what stands in a response that is refused for another reason is not said to be absent", () => {
    const story = talking([
      [1, ENDPOINTS, "a"],
      [2, ENDPOINTS, "c"],
    ]);
    const twice = whole(ENDPOINTS, "1", "n1", [received("a", "1"), received("b", "1"), received("b", "1")]);
    expect(story.receive(1, twice)).toEqual([
      '1: failed all rejected: "b" is named twice',
      '2: failed all rejected: "b" is named twice',
      '1> ClusterLoadAssignment [a,c] n1 !"b" is named twice',
    ]);
    expect(story.pass(15_000)).toEqual(["2: absent c does-not-exist"]);
  });

  test("C-ACK-07 C-NON-09 a version that was partly refused is refused by its own name, and nothing more is expected", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    story.watch(2, ENDPOINTS, "b");
    expect(story.receive(1, whole(ENDPOINTS, "1", "n2", [received("b", "1", { problem: "bad" })]))).toEqual([
      "2: failed b rejected: bad",
      "1> ClusterLoadAssignment [a,b] v1 n2 !b: bad",
    ]);
    expect(story.pass(60_000)).toEqual([]);
  });

  test("C-VAL-05 of very many problems the first are told, and how many there are", () => {
    const story = talking([[1, CLUSTER, "*"]]);
    const many = Array.from({ length: 150 }, (_, i) => received(`c${i}`, "1", { problem: "bad" }));
    expect(story.receive(1, whole(CLUSTER, "1", "n1", many)).at(-1)).toMatch(
      /^1> Cluster \[\] n1 !c0: bad; .*; c99: bad; and 50 more$/,
    );
  });

  test("B-ADS-01 B-VER-02 each type has its own version and nonce", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [2, ENDPOINTS, "a"],
    ]);
    story.receive(1, whole(CLUSTER, "7", "n7", []));
    expect(story.receive(1, whole(ENDPOINTS, "1", "n8", [received("a", "1")]))).toEqual([
      "2: changed a@1",
      "1> ClusterLoadAssignment [a] v1 n8",
    ]);
    expect(story.watch(3, CLUSTER, "z")).toEqual(["1> Cluster [*,z] v7 n7"]);
  });

  test("C-GRP-09 C-GRP-11 without aggregation each type has a stream, which ends with its last watch", () => {
    const story = new ClientStory(sourceOf({ isAggregated: false }));
    expect(story.on(started(1, CLUSTER, "*"), started(2, ENDPOINTS, "a"), started(3, ENDPOINTS, "b"))).toEqual([
      "open 1 for Cluster",
      "open 2 for ClusterLoadAssignment",
    ]);
    expect(story.open(2)).toEqual(["2> ClusterLoadAssignment [a,b] (me)"]);
    expect(story.stop(3)).toEqual(["2> ClusterLoadAssignment [a]"]);
    expect(story.stop(2)).toEqual(["close 2"]);
  });

  test("C-TYP-12 a stream of one type takes no other", () => {
    const story = new ClientStory(sourceOf({ isAggregated: false }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    expect(story.receive(1, whole(LISTENER, "1", "n1", [])).at(-1)).toMatch(
      /^1> Cluster \[\] n1 !expected resources of /,
    );
  });

  test("C-TYP-14 the twin of a type is taken for it where that is wanted", () => {
    const answer = whole(STRANGE_TWIN, "1", "n1", [received("a", "1")]);
    const strict = talking([[1, STRANGE, "a"]]);
    expect(strict.receive(1, answer)).toEqual([]);
    const lenient = talking([[1, STRANGE, "a"]], sourceOf({ dialect: { acceptTwinTypes: true } }));
    expect(lenient.receive(1, answer)).toEqual(["1: changed a@1", "1> Strange [a] v1 n1"]);
    expect(lenient.receive(1, whole(LISTENER, "2", "n2", [received("a", "2")]))).toEqual([]);
  });
});
