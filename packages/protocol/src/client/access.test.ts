import { describe, expect, test } from "vitest";
import { ClientStory, received, sourceOf, started, whole } from "../../test/support/client-story.ts";
import { CLUSTER, ENDPOINTS, LISTENER } from "../../test/support/resources.ts";

const poll = sourceOf({ access: "poll", isAggregated: false });
const file = sourceOf({ access: "file", isAggregated: false });

function due(type: typeof CLUSTER): { readonly kind: "poll-due"; readonly stream: 1; readonly type: typeof CLUSTER } {
  return { kind: "poll-due", stream: 1, type };
}

describe("polls", () => {
  test("C-RST-06 C-RST-08 B-RST-07 each tells everything anew, when it is due", () => {
    const story = new ClientStory(poll);
    expect(story.watch(1, CLUSTER, "*")).toEqual(["open 1 for Cluster"]);
    expect(story.open(1)).toEqual(["1> Cluster [] (me)"]);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]))).toEqual(["1: changed a@1", "1: synced"]);
    expect(story.on(due(CLUSTER))).toEqual(["1> Cluster [] v1 n1 (me)"]);
    story.receive(1, whole(CLUSTER, "2", "", []));
    expect(story.on(due(CLUSTER))).toEqual(["1> Cluster [] v2 n1 (me)"]);
  });

  test("C-RST-04 that change nothing are answers", () => {
    const story = new ClientStory(poll);
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "", [received("a", "1")]));
    story.on(due(CLUSTER));
    expect(story.on({ kind: "poll-unchanged", stream: 1, type: CLUSTER })).toEqual([]);
    expect(story.reported("poll-unchanged")).toEqual([{ kind: "poll-unchanged", source: "ads", type: CLUSTER }]);
    expect(story.on(due(CLUSTER))).toEqual(["1> Cluster [] v1 (me)"]);
  });

  test("C-RST-09 C-RST-18 what is refused, or cannot be read, is told once, with the version before", () => {
    const story = new ClientStory(poll);
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    story.receive(1, whole(ENDPOINTS, "1", "", [received("a", "1")]));
    story.on(due(ENDPOINTS));
    const bad = whole(ENDPOINTS, "2", "", [received("a", "2", { problem: "bad" })]);
    expect(story.receive(1, bad)).toEqual(["1: failed a rejected: bad (holds a@1)"]);
    expect(story.on(due(ENDPOINTS))).toEqual(["1> ClusterLoadAssignment [a] v1 !a: bad (me)"]);
    expect(
      story.on({ kind: "unreadable-received", stream: 1, type: ENDPOINTS, problem: "expected JSON, got HTML" }),
    ).toEqual(["1: failed all rejected: expected JSON, got HTML"]);
    expect(story.on(due(ENDPOINTS))).toEqual(["1> ClusterLoadAssignment [a] v1 !expected JSON, got HTML (me)"]);
    expect(story.on(due(ENDPOINTS))).toEqual(["1> ClusterLoadAssignment [a] v1 (me)"]);
    expect(story.states).toEqual(["ClusterLoadAssignment a@1 nacked: bad"]);
  });

  test("C-RST-20 another interest is told at once", () => {
    const story = new ClientStory(poll);
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    expect(story.watch(2, ENDPOINTS, "b")).toEqual(["1!> ClusterLoadAssignment [a,b] (me)"]);
    expect(story.stop(1)).toEqual(["1!> ClusterLoadAssignment [b] (me)"]);
    expect(story.stop(2)).toEqual(["close 1"]);
  });

  test("C-RST-17 a failed poll keeps what is held, and goes on at the next server", () => {
    const story = new ClientStory(sourceOf({ access: "poll", isAggregated: false, servers: 2 }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "", [received("a", "1")]));
    expect(story.close(1, "503")).toEqual([]);
    expect(story.pass(1_000)).toEqual(["open 2 at 1 for Cluster"]);
    expect(story.open(2)).toEqual(["2> Cluster [] (me)"]);
    expect(story.close(2, "503")).toEqual(["1: failed all unreachable: 503"]);
    expect(story.states).toEqual(["Cluster a@1 acked"]);
  });

  test("S-RST-14 a version of names is not told for everything", () => {
    const story = new ClientStory(poll);
    story.watch(1, CLUSTER, "a");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "", [received("a", "1")]));
    expect(story.on({ kind: "watch-stopped", watch: 1 }, started(2, CLUSTER, "*"))).toEqual([
      "2: changed a@1",
      "1!> Cluster [*] (me)",
    ]);
  });

  test("C-RST-08 B-VER-04 after a failure the version is told in every edition", () => {
    const story = new ClientStory(sourceOf({ ...poll, dialect: { resumeVersion: false } }));
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    story.receive(1, whole(ENDPOINTS, "1", "", [received("a", "1")]));
    story.close(1);
    story.pass(250);
    expect(story.open(2)).toEqual(["2> ClusterLoadAssignment [a] v1 (me)"]);
  });

  test("C-OBS-01 are reported as what they say", () => {
    const story = new ClientStory(poll);
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    story.receive(1, whole(ENDPOINTS, "1", "", [received("a", "1")]));
    story.on(due(ENDPOINTS));
    story.receive(1, whole(ENDPOINTS, "2", "", [received("a", "2", { problem: "bad" })]));
    story.on(due(ENDPOINTS));
    expect(story.reported("request-sent").map(({ as }) => as)).toEqual(["initial", "poll", "nack"]);
  });
});

describe("files", () => {
  test("C-FS-05 C-FS-07 a full-state file is what there is, and nobody answers it", () => {
    const story = new ClientStory(file);
    expect(story.watch(1, CLUSTER, "*")).toEqual(["open 1 for Cluster"]);
    expect(story.open(1)).toEqual(["1> Cluster [] (me)"]);
    const first = whole(CLUSTER, "", "", { type: undefined, resources: [received("a", "1"), received("b", "1")] });
    expect(story.receive(1, first)).toEqual(["1: changed a@1", "1: changed b@1", "1: synced"]);
    expect(story.receive(1, whole(CLUSTER, "", "", [received("b", "2")]))).toEqual([
      "1: absent a removed",
      "1: changed b@2",
    ]);
  });

  test("E1 a name besides everything is read of a file at once, and the file not again for it", () => {
    const story = new ClientStory(file);
    story.on(started(1, CLUSTER, "*"), started(2, CLUSTER, "z"));
    expect(story.open(1)).toEqual(["1> Cluster [*,z] (me)"]);
    expect(story.receive(1, whole(CLUSTER, "1", "", [received("a", "1")]))).toEqual(["1: changed a@1", "1: synced"]);
  });

  test("C-FS-07 of a named type only what is wanted is taken, and what is left out stays", () => {
    const story = new ClientStory(file);
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    expect(story.receive(1, whole(ENDPOINTS, "", "", [received("a", "1"), received("b", "1")]))).toEqual([
      "1: changed a@1",
    ]);
    expect(story.receive(1, whole(ENDPOINTS, "", "", []))).toEqual([]);
    expect(story.watch(2, ENDPOINTS, "b")).toEqual(["1> ClusterLoadAssignment [a,b] (me)"]);
    expect(story.receive(1, whole(ENDPOINTS, "", "", [received("a", "1"), received("b", "1")]))).toEqual([
      "2: changed b@1",
    ]);
  });

  test("C-FS-06 C-FS-08 C-FS-12 what cannot be read, is of another type or has a name twice changes nothing", () => {
    const story = new ClientStory(file);
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "", "", [received("a", "1")]));
    expect(story.on({ kind: "unreadable-received", stream: 1, type: CLUSTER, problem: "cut short" })).toEqual([
      "1: failed all rejected: cut short",
    ]);
    expect(story.receive(1, whole(LISTENER, "", "", []))).toEqual([
      expect.stringMatching(/^1: failed all rejected: expected resources of /),
    ]);
    expect(story.receive(1, whole(CLUSTER, "", "", [received("b", "1"), received("b", "1")]))).toEqual([
      '1: failed all rejected: "b" is named twice',
    ]);
    expect(story.states).toEqual(["Cluster a@1 acked"]);
    expect(story.reported("response-rejected").map(({ error }) => error)).toHaveLength(3);
    expect(story.receive(1, whole(CLUSTER, "", "", [received("a", "2")]))).toEqual(["1: changed a@2"]);
  });
});
