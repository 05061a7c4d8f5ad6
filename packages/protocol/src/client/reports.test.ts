import { describe, expect, test } from "vitest";
import { ClientStory, received, sourceOf, started, whole } from "../../test/support/client-story.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../../test/support/resources.ts";
import { clientDialect } from "../dialect/client-dialect.ts";

test("B-OBS-04 C-CSD-03 where a name stands tells when it was accepted, and when it failed", () => {
  const story = new ClientStory();
  story.watch(1, ENDPOINTS, "a");
  story.open(1);
  story.pass(100);
  story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
  story.pass(100);
  story.receive(1, whole(ENDPOINTS, "2", "n2", [received("a", "2", { problem: "bad" })]));
  expect([...story.machine.states()].map(({ acceptedAtMs, failure }) => [acceptedAtMs, failure?.atMs])).toEqual([
    [100, 200],
  ]);
});

describe("C-OBS-01 what is connected", () => {
  const opened = { kind: "stream-opened", source: "ads", server: 0 };
  const closed = { kind: "stream-closed", source: "ads", server: 0 };

  test("a stream that nobody needs any more is told to be closed, if it was open", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "a");
    story.stop(1);
    expect(story.reported("stream-closed")).toEqual([]);
    story.watch(2, CLUSTER, "a");
    story.open(2);
    story.stop(2);
    expect(story.reported("stream-opened")).toEqual([opened]);
    expect(story.reported("stream-closed")).toEqual([closed]);
  });

  test("of polls, a server is connected to when it answered, and each that fails is a failure", () => {
    const story = new ClientStory(sourceOf({ access: "poll", isAggregated: false }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    expect(story.reported("stream-opened")).toEqual([]);
    story.receive(1, whole(CLUSTER, "1", "", []));
    story.on({ kind: "poll-unchanged", stream: 1, type: CLUSTER });
    expect(story.reported("stream-opened")).toEqual([opened]);
    story.close(1);
    story.pass(60_000);
    story.open(2);
    story.close(2);
    const ends = story.reported("stream-ended").map(({ wasOpened, isFailure }) => ({ wasOpened, isFailure }));
    expect(ends).toEqual([
      { wasOpened: true, isFailure: true },
      { wasOpened: false, isFailure: true },
    ]);
  });

  test("the types that wait are told with the end of a stream, those that nobody wants are not", () => {
    const story = new ClientStory();
    story.on(started(1, CLUSTER, "a"), started(2, LISTENER, "b"), started(3, ROUTE, "c"));
    story.stop(2);
    story.close(1);
    expect(story.reported("stream-ended").map(({ types }) => types)).toEqual([[CLUSTER, ROUTE]]);
  });
});

test("C-OBS-01 B-ACK-08 a refused response says whether something in it was taken", () => {
  const story = new ClientStory(sourceOf({ dialect: clientDialect({ nackPolicy: "apply-valid" }) }));
  story.watch(1, CLUSTER, "*");
  story.open(1);
  const mixed = whole(CLUSTER, "1", "n1", [received("a", "1"), received("b", "1", { problem: "bad" })]);
  story.receive(1, mixed);
  story.receive(1, { ...mixed, nonce: "n2" });
  expect(story.reported("response-rejected").map(({ isNews }) => isNews)).toEqual([true, false]);
  const strict = new ClientStory();
  strict.watch(1, CLUSTER, "*");
  strict.open(1);
  strict.receive(1, mixed);
  expect(strict.reported("response-rejected").map(({ isNews }) => isNews)).toEqual([false]);
});

test("C-OBS-01 a file is read each time that something is told of it", () => {
  const story = new ClientStory(sourceOf({ access: "file", isAggregated: false }));
  story.watch(1, ENDPOINTS, "a");
  story.open(1);
  story.receive(1, whole(ENDPOINTS, "1", "", [received("a", "1")]));
  story.on({ kind: "unreadable-received", stream: 1, type: ENDPOINTS, problem: "expected YAML" });
  const about = { source: "ads", type: ENDPOINTS, version: "", controlPlane: undefined };
  const rejected = { kind: "response-rejected", ...about, isNews: false, error: "expected YAML" };
  expect(story.reported("response-rejected")).toEqual([rejected]);
  const read = { kind: "file-read", source: "ads", type: ENDPOINTS };
  expect(story.reported("file-read")).toEqual([read, read]);
  expect(story.reported("request-sent")).toEqual([]);
});

test("C-CFG-07 C-OBS-01 it is told how many requests wait, also that none does any more", () => {
  const story = new ClientStory(sourceOf({ rateLimit: { maxTokens: 1, tokensPerSecond: 10 }, absenceMs: 0 }));
  story.on(started(1, CLUSTER, "*"), started(2, LISTENER, "*"), started(3, ROUTE, "a"));
  story.open(1);
  story.pass(100);
  story.pass(100);
  story.pass(100);
  story.receive(1, whole(CLUSTER, "1", "n1", []));
  expect(story.reported("rate-limited").map(({ pending }) => pending)).toEqual([2, 1, 0]);
  story.watch(4, ROUTE, "b");
  for (const watch of [1, 2, 3, 4]) story.stop(watch);
  expect(story.reported("rate-limited").map(({ pending }) => pending)).toEqual([2, 1, 0, 1, 0]);
});

test("C-CFG-07 C-OBS-01 a server that is only tried does not end the waiting for another one", () => {
  const rateLimit = { maxTokens: 1, tokensPerSecond: 10 };
  const story = new ClientStory(sourceOf({ rateLimit, absenceMs: 0, servers: 2, failover: "fallback" }));
  story.on(started(1, CLUSTER, "*"), started(2, LISTENER, "*"), started(3, ROUTE, "a"));
  expect(story.close(1)).toEqual(["open 2 at 1"]);
  expect(story.open(2)).toEqual(["2> Cluster [] (me)"]);
  expect(story.pass(250)).toEqual(["2> Listener []", "2> RouteConfiguration [a]", "open 3"]);
  story.stop(3);
  expect(story.watch(4, ROUTE, "b")).toEqual([]);
  expect(story.reported("rate-limited").map(({ pending }) => pending)).toEqual([2, 1, 0, 1]);
});
