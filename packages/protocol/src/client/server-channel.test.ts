import { describe, expect, test } from "vitest";
import { ClientStory, change, received, sourceOf, started, whole } from "../../test/support/client-story.ts";
import { node } from "../../test/support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../../test/support/resources.ts";

describe("a name that nobody answers for", () => {
  test("C-NEX-02 C-NEX-05 does not exist after a time, and comes when it comes", () => {
    const story = new ClientStory();
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    expect(story.pass(14_999)).toEqual([]);
    expect(story.pass(1)).toEqual(["1: absent a does-not-exist"]);
    expect(story.reported("absence-timeout")).toEqual([
      { kind: "absence-timeout", source: "ads", type: ENDPOINTS, names: ["a"] },
    ]);
    expect(story.states).toEqual(["ClusterLoadAssignment a does-not-exist"]);
    expect(story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]))).toEqual([
      "1: changed a@1",
      "1> ClusterLoadAssignment [a] v1 n1",
    ]);
  });

  test("C-NEX-01 is waited for, whatever comes for others: one timer for those asked for together", () => {
    const story = new ClientStory();
    story.on(started(1, ENDPOINTS, "a"), started(2, ENDPOINTS, "b"));
    story.open(1);
    story.pass(5_000);
    story.watch(3, ENDPOINTS, "c");
    expect(story.timers).toEqual([10_000, 15_000]);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    expect(story.pass(10_000)).toEqual(["2: absent b does-not-exist"]);
    expect(story.receive(1, whole(ENDPOINTS, "2", "n2", [received("c", "1")]))).toHaveLength(2);
    expect(story.timers).toEqual([]);
  });

  test("C-NEX-03 is waited for on a stream that is connected, and not if it is held", () => {
    const story = new ClientStory();
    story.watch(1, ENDPOINTS, "a");
    story.pass(60_000);
    expect(story.timers).toEqual([]);
    story.open(1);
    story.pass(10_000);
    story.close(1);
    expect(story.timers).toEqual([250]);
    story.pass(250);
    story.open(2);
    // The name, and the outage.
    expect(story.timers).toEqual([15_000, 15_000]);
    story.receive(2, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    story.close(2);
    story.pass(250);
    story.open(3);
    expect(story.timers).toEqual([]);
  });

  test("C-NEX-02 is waited for without end where the edition, or the source, says so", () => {
    const stories = [sourceOf({ dialect: { absenceTimer: false } }), sourceOf({ absenceMs: 0 })].map((source) => {
      const story = new ClientStory(source);
      story.watch(1, ENDPOINTS, "a");
      story.open(1);
      return story.timers;
    });
    expect(stories).toEqual([[], []]);
  });

  test("C-NEX-10 is waited for in delta too, and no more once it is given up", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.on(started(1, ENDPOINTS, "a"), started(9, CLUSTER, "*"));
    story.open(1);
    expect(story.timers).toEqual([15_000]);
    story.stop(1);
    expect(story.timers).toEqual([]);
  });

  test("C-NEX-02 is waited for anew by who wants it again before a server could be told that nobody does", () => {
    const variants = (["sotw", "delta"] as const).map((variant) => {
      const story = new ClientStory(sourceOf({ variant }));
      story.on(started(1, ENDPOINTS, "a"), started(9, CLUSTER, "*"));
      story.open(1);
      story.pass(5_000);
      story.on({ kind: "watch-stopped", watch: 1 }, started(2, ENDPOINTS, "a"));
      expect(story.timers).toEqual([15_000]);
      return story.pass(15_000);
    });
    expect(variants).toEqual([["2: absent a does-not-exist"], ["2: absent a does-not-exist"]]);
  });

  test("C-OBS-01 is not reported where the time of what was answered is over", () => {
    const glob = "xdstp://x/envoy.config.endpoint.v3.ClusterLoadAssignment/d/*";
    const story = new ClientStory();
    story.watch(1, ENDPOINTS, glob);
    story.open(1);
    expect(story.receive(1, whole(ENDPOINTS, "1", "n1", []))[0]).toBe("1: synced");
    expect(story.pass(15_000)).toEqual([]);
    expect(story.reported("absence-timeout")).toEqual([]);
  });

  test("C-ERR-10 cannot be reached, after twice the time, where that is wanted", () => {
    const story = new ClientStory(sourceOf({ dialect: { timerIsTransient: true } }));
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    expect(story.pass(29_999)).toEqual([]);
    expect(story.pass(1)).toEqual(["1: failed a timeout: nothing came in time"]);
    expect(story.reported("absence-timeout").map(({ names }) => names)).toEqual([["a"]]);
    expect(story.states).toEqual(["ClusterLoadAssignment a timeout: nothing came in time"]);
    expect(story.watch(2, ENDPOINTS, "a")).toEqual(["2: failed a timeout: nothing came in time"]);
  });
});

describe("a stream that ends", () => {
  test("C-REC-01 C-REC-03 C-NON-03 C-NOD-01 B-VER-04 is opened again: full names, last version, no nonce", () => {
    const story = new ClientStory();
    story.on(started(1, ENDPOINTS, "a"), started(2, CLUSTER, "*"));
    story.open(1);
    story.receive(1, whole(CLUSTER, "7", "n7", [received("c", "1")]));
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    expect(story.close(1)).toEqual([]);
    expect(story.states).toEqual(["ClusterLoadAssignment a@1 acked", "Cluster c@1 acked"]);
    expect(story.watch(3, ENDPOINTS, "b")).toEqual([]);
    expect(story.pass(250)).toEqual(["open 2"]);
    expect(story.open(2)).toEqual(["2> Cluster [] v7 (me)", "2> ClusterLoadAssignment [a,b] v1"]);
  });

  test("B-VER-04 the version is of the stream in the edition of 2018", () => {
    const story = new ClientStory(sourceOf({ dialect: { resumeVersion: false } }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "7", "n7", []));
    story.close(1);
    story.pass(250);
    expect(story.open(2)).toEqual(["2> Cluster [] (me)"]);
  });

  test("C-REC-06 C-REC-07 C-REC-08 delta tells what is held, on the first request after a break alone", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.on(started(1, ENDPOINTS, "a"), started(2, ENDPOINTS, "b"), started(3, CLUSTER, "*"));
    expect(story.open(1)).toEqual(["1> Cluster (me)", "1> ClusterLoadAssignment +a +b"]);
    story.receive(1, change(CLUSTER, "n1", { resources: [received("c", "1"), received("d", "1")] }));
    story.receive(1, change(CLUSTER, "n2", { removed: ["d"] }));
    story.receive(1, change(ENDPOINTS, "n3", { resources: [received("a", "2")] }));
    story.close(1);
    story.pass(250);
    expect(story.open(2)).toEqual(["2> Cluster {c@1} (me)", "2> ClusterLoadAssignment +a +b {a@2}"]);
    expect(story.watch(4, ENDPOINTS, "e")).toEqual(["2> ClusterLoadAssignment +e"]);
  });

  test("C-VER-05 C-UNS-09 a version of which nothing is held any more is not told", () => {
    const story = new ClientStory();
    story.on(started(1, CLUSTER, "*"), started(2, ENDPOINTS, "a"), started(3, ROUTE, "r"), started(4, ROUTE, "s"));
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("c", "1")]));
    story.receive(1, whole(ENDPOINTS, "2", "n2", [received("a", "1")]));
    story.receive(1, whole(ROUTE, "3", "n3", [received("r", "1"), received("s", "1")]));
    for (const watch of [2, 3]) story.stop(watch);
    story.watch(5, ENDPOINTS, "a");
    story.close(1);
    story.stop(1);
    story.watch(6, CLUSTER, "c");
    story.pass(250);
    expect(story.open(2)).toEqual([
      "2> Cluster [c] (me)",
      "2> ClusterLoadAssignment [a]",
      "2> RouteConfiguration [s] v3",
    ]);
  });

  test("C-VER-05 B-ACK-08 a version of which nothing was taken is not told, but the one before", () => {
    const story = new ClientStory(sourceOf({ dialect: { nackPolicy: "apply-valid" } }));
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    story.receive(1, whole(ENDPOINTS, "2", "n2", [received("a", "2", { problem: "bad" })]));
    story.close(1);
    story.pass(250);
    expect(story.open(2)).toEqual(["2> ClusterLoadAssignment [a] v1 (me)"]);
  });

  test("C-VER-05 B-UNS-08 a version of everything is not told once everything was given up", () => {
    const story = new ClientStory(sourceOf({ dialect: { explicitWildcard: true } }));
    story.on(started(1, CLUSTER, "*"), started(2, CLUSTER, "c"));
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1"), received("c", "1")]));
    expect(story.stop(1)).toEqual(["1> Cluster [c] v1 n1"]);
    story.close(1);
    story.watch(3, CLUSTER, "a");
    story.pass(250);
    expect(story.open(2)).toEqual(["2> Cluster [c,a] (me)"]);
  });

  test("a version of names is not told for everything", () => {
    const story = new ClientStory();
    story.on(started(1, CLUSTER, "a"), started(9, ENDPOINTS, "a"));
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    story.close(1);
    story.watch(2, CLUSTER, "*");
    story.pass(250);
    expect(story.open(2)[0]).toBe("2> Cluster [] (me)");
  });

  test("C-REC-02 C-FBK-01 pauses longer with each failure in a row, and from the start after an answer", () => {
    const story = new ClientStory();
    story.chance = 0.999;
    story.watch(1, CLUSTER, "*");
    const pauses: number[] = [];
    for (let stream = 1; stream <= 9; stream++) {
      expect(story.close(stream)).toEqual(stream === 1 ? ["1: failed all unreachable: gone"] : []);
      pauses.push(...story.timers);
      story.pass(60_000);
    }
    expect(pauses).toEqual([500, 999, 1_998, 3_996, 7_992, 15_984, 29_970, 29_970, 29_970]);
    story.open(10);
    story.receive(10, whole(CLUSTER, "1", "n1", []));
    expect(story.close(10)).toEqual([]);
    expect(story.timers).toEqual([500]);
    expect(story.reported("stream-ended").at(-1)).toEqual({
      kind: "stream-ended",
      source: "ads",
      server: 0,
      status: { code: 14, message: "gone" },
      types: [CLUSTER],
      wasOpened: true,
      isFailure: false,
      retryMs: 500,
    });
  });

  test("C-FBK-01 who gives another reason each time is listened to eight times in an outage", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    const told = Array.from({ length: 12 }, (_, i) => {
      const news = story.close(i + 1, `at ${i}`);
      story.pass(60_000);
      return news.length;
    });
    expect(told).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
  });

  test("C-FBK-01 a stream that stays open ends an outage, one that does not does not", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, CLUSTER, "*");
    expect(story.close(1)).toEqual(["1: failed all unreachable: gone"]);
    story.pass(500);
    story.open(2);
    expect(story.pass(14_999)).toEqual([]);
    expect(story.close(2)).toEqual([]);
    expect(story.pass(999)).toEqual(["open 3"]);
    story.open(3);
    expect([story.pass(14_999), story.pass(1), story.timers]).toEqual([[], ["1: recovered"], []]);
  });

  test("C-FBK-01 who comes while no server can be reached is told at once", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    story.close(1);
    expect(story.watch(2, CLUSTER, "*")).toEqual(["2: failed all unreachable: gone"]);
  });

  test("C-CLI-05 what is held is told to whoever comes while no server can be reached", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    story.close(1);
    story.pass(250);
    story.close(2);
    expect(story.watch(2, CLUSTER, "*")).toEqual(["2: changed a@1", "2: failed all unreachable: gone", "2: synced"]);
  });

  test("what a closed stream says is not heard", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    story.open(1);
    expect(story.stop(1)).toEqual(["close 1"]);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]))).toEqual([]);
    expect(story.close(1)).toEqual([]);
    expect(story.timers).toEqual([]);
    expect(story.watch(2, CLUSTER, "*")).toEqual(["open 2"]);
  });
});

describe("two sources of one type", () => {
  test("B-VER-03 B-VER-09 each has its own stream, version and resources", () => {
    const story = new ClientStory(sourceOf(), sourceOf({ id: "other" }));
    expect(story.on(started(1, ENDPOINTS, "a"), started(2, ENDPOINTS, "a", { source: "other" }))).toEqual([
      "open 1",
      "open 2",
    ]);
    story.open(1);
    story.open(2);
    story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
    expect(story.receive(2, whole(ENDPOINTS, "9", "m1", [received("a", "9")]))).toEqual([
      "2: changed a@9",
      "2> ClusterLoadAssignment [a] v9 m1",
    ]);
    expect(story.watch(3, ENDPOINTS, "b")).toEqual(["1> ClusterLoadAssignment [a,b] v1 n1"]);
    expect([...story.machine.states()].map(({ source, name, status }) => [source, name, status])).toEqual([
      ["ads", "a", "acked"],
      ["ads", "b", "requested"],
      ["other", "a", "acked"],
    ]);
  });

  test("a watch of a source that was not added is a mistake of the caller", () => {
    expect(() => new ClientStory().watch(1, ENDPOINTS, "a", { source: "nowhere" })).toThrow(
      new RangeError("expected a source that was added, got nowhere"),
    );
  });
});

describe("who the client is", () => {
  test("C-NOD-02 C-NOD-03 is told with every request where that is wanted", () => {
    const story = new ClientStory(sourceOf({ nodeIn: "every-request" }));
    story.on(started(1, ENDPOINTS, "a"), started(2, CLUSTER, "*"));
    expect(story.open(1)).toEqual(["1> Cluster [] (me)", "1> ClusterLoadAssignment [a] (me)"]);
    expect(new Set(story.requests.map((one) => one.node)).size).toBe(1);
  });

  test("C-MSC-07 is told again with the next request of each type once it changed", () => {
    const story = new ClientStory();
    story.on(started(1, ENDPOINTS, "a"), started(2, CLUSTER, "*"));
    story.open(1);
    expect(story.on({ kind: "node-changed", node: node("you") })).toEqual([]);
    expect(story.watch(3, ENDPOINTS, "b")).toEqual(["1> ClusterLoadAssignment [a,b] (you)"]);
    expect(story.watch(4, ENDPOINTS, "c")).toEqual(["1> ClusterLoadAssignment [a,b,c]"]);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", []))).toContain("1> Cluster [] v1 n1 (you)");
  });

  test("C-MSC-07 is told again to those who heard otherwise, also if it is what it was at first", () => {
    const story = new ClientStory();
    const me = node("me");
    story.on({ kind: "node-changed", node: me }, started(1, ENDPOINTS, "a"), started(2, CLUSTER, "b"));
    story.open(1);
    story.on({ kind: "node-changed", node: node("you") });
    expect(story.watch(3, ENDPOINTS, "c")).toEqual(["1> ClusterLoadAssignment [a,c] (you)"]);
    story.on({ kind: "node-changed", node: me });
    expect(story.watch(4, ENDPOINTS, "d")).toEqual(["1> ClusterLoadAssignment [a,c,d] (me)"]);
    expect(story.watch(5, CLUSTER, "e")).toEqual(["1> Cluster [b,e]"]);
  });
});

describe("requests beyond a limit", () => {
  test("C-CFG-07 wait for their token, and are one by then", () => {
    const story = new ClientStory(sourceOf({ rateLimit: { maxTokens: 2, tokensPerSecond: 10 }, absenceMs: 0 }));
    story.on(started(1, CLUSTER, "*"), started(2, LISTENER, "*"), started(3, ROUTE, "a"));
    expect(story.open(1)).toEqual(["1> Cluster [] (me)", "1> Listener []"]);
    expect(story.reported("rate-limited")).toEqual([{ kind: "rate-limited", source: "ads", pending: 1 }]);
    expect(story.watch(4, ROUTE, "b")).toEqual([]);
    expect(story.pass(100)).toEqual(["1> RouteConfiguration [a,b]"]);
    expect(story.timers).toEqual([]);
    story.receive(1, whole(CLUSTER, "1", "n1", []));
    story.receive(1, whole(CLUSTER, "2", "n2", []));
    expect(story.pass(1_000)).toEqual(["1> Cluster [] v2 n2"]);
  });

  test.each([
    ["an ACK", [], "1> Cluster [] v3 n3"],
    ["a NACK", ["it is bad"], "1> Cluster [] v2 n3 !it is bad"],
  ])("C-CFG-07 of answers that wait only the newest is sent, %s, as nonces go stale", (_, problems, answer) => {
    const story = new ClientStory(sourceOf({ rateLimit: { maxTokens: 1, tokensPerSecond: 10 }, absenceMs: 0 }));
    story.watch(1, CLUSTER, "*");
    expect(story.open(1)).toEqual(["1> Cluster [] (me)"]);
    story.receive(1, whole(CLUSTER, "1", "n1", { problems: ["it is worse"] }));
    story.receive(1, whole(CLUSTER, "2", "n2", [received("a", "1")]));
    story.receive(1, whole(CLUSTER, "3", "n3", { problems }));
    expect(story.pass(10_000).filter((line) => line.includes(">"))).toEqual([answer]);
  });

  test("C-CFG-07 C-DLT-03 in delta each response has an answer, however long it waits", () => {
    const rateLimit = { maxTokens: 1, tokensPerSecond: 10 };
    const story = new ClientStory(sourceOf({ variant: "delta", rateLimit, absenceMs: 0 }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    for (const nonce of ["n1", "n2"]) story.receive(1, change(CLUSTER, nonce, {}));
    expect(story.pass(10_000)).toEqual(["1> Cluster n1", "1> Cluster n2"]);
  });
});
