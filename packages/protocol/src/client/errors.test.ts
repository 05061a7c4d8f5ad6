import { describe, expect, test } from "vitest";
import {
  ClientStory,
  change,
  empty,
  errorOf,
  received,
  sourceOf,
  started,
  whole,
} from "../../test/support/client-story.ts";
import { CLUSTER, ENDPOINTS, HOST, LB_ENDPOINT } from "../../test/support/resources.ts";
import type { ClientDialect } from "../dialect/client-dialect.ts";
import { statusCode } from "../message/status.ts";
import { locatedTerm, variantKey } from "../resource/variant-name.ts";

const { NOT_FOUND, PERMISSION_DENIED, UNAVAILABLE } = statusCode;

function holding(dialect: Partial<ClientDialect> = {}): ClientStory {
  const story = new ClientStory(sourceOf({ dialect }));
  story.watch(1, ENDPOINTS, "a");
  story.open(1);
  story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
  return story;
}

function failing(code: number): Parameters<ClientStory["receive"]>[1] {
  return whole(ENDPOINTS, "2", "n2", { errors: [errorOf("a", code)] });
}

describe("an error that a server tells of a resource", () => {
  test("C-ERR-06 C-ERR-11 C-ERR-13 ends the waiting, is acknowledged, and remembered until something better comes", () => {
    const story = new ClientStory();
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    expect(story.receive(1, failing(UNAVAILABLE))).toEqual([
      "1: failed a resource-error: why",
      "1> ClusterLoadAssignment [a] v2 n2",
    ]);
    expect(story.timers).toEqual([]);
    expect(story.states).toEqual(["ClusterLoadAssignment a received-error: why"]);
    expect(story.watch(2, ENDPOINTS, "a")).toEqual(["2: failed a resource-error: why"]);
    story.receive(1, whole(ENDPOINTS, "3", "n3", [received("a", "1")]));
    expect(story.states).toEqual(["ClusterLoadAssignment a@1 acked"]);
  });

  test("C-ERR-07 C-ERR-08 C-ERR-09 what is held goes on being used, unless told otherwise", () => {
    const ack = "1> ClusterLoadAssignment [a] v2 n2";
    expect(holding().receive(1, failing(UNAVAILABLE))).toEqual(["1: failed a resource-error: why (holds a@1)", ack]);
    expect(holding().receive(1, failing(PERMISSION_DENIED))).toEqual([
      "1: failed a resource-error: why (holds a@1)",
      ack,
    ]);
    expect(holding().receive(1, failing(NOT_FOUND))).toEqual(["1: absent a does-not-exist (holds a@1)", ack]);
    const strict = { failOnDataErrors: true };
    expect(holding(strict).receive(1, failing(UNAVAILABLE))).toEqual([
      "1: failed a resource-error: why (holds a@1)",
      ack,
    ]);
    expect(holding(strict).receive(1, failing(PERMISSION_DENIED))).toEqual(["1: failed a resource-error: why", ack]);
    expect(holding(strict).receive(1, failing(NOT_FOUND))).toEqual(["1: absent a does-not-exist", ack]);
  });

  test("C-ERR-09 a refused update ends what is held where that is wanted", () => {
    const bad = whole(ENDPOINTS, "2", "n2", [received("a", "2", { problem: "bad" })]);
    const story = holding({ failOnDataErrors: true });
    expect(story.receive(1, bad)).toEqual(["1: failed a rejected: bad", "1> ClusterLoadAssignment [a] v1 n2 !a: bad"]);
    expect(story.states).toEqual(["ClusterLoadAssignment a nacked: bad"]);
  });

  test("C-ERR-09 a deletion ends what is held, also where deletions are ignored", () => {
    const both = { failOnDataErrors: true, ignoreDeletion: true };
    const story = new ClientStory(sourceOf({ dialect: both }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    expect(story.receive(1, whole(CLUSTER, "2", "n2", []))).toEqual(["1: absent a removed", "1> Cluster [] v2 n2"]);
  });

  test("S-ERR-04 S-ERR-05 in a full state it is not left out; in delta not found is removed", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1"), received("b", "1")]));
    const answer = whole(CLUSTER, "2", "n2", { resources: [received("b", "1")], errors: [errorOf("a", UNAVAILABLE)] });
    expect(story.receive(1, answer)).toEqual(["1: failed a resource-error: why (holds a@1)", "1> Cluster [] v2 n2"]);
    const delta = new ClientStory(sourceOf({ variant: "delta" }));
    delta.watch(1, ENDPOINTS, "a");
    delta.open(1);
    delta.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1")] }));
    expect(delta.receive(1, change(ENDPOINTS, "n2", { errors: [errorOf("a", NOT_FOUND)] }))).toEqual([
      "1: absent a removed",
      "1> ClusterLoadAssignment n2",
    ]);
    expect(delta.states).toEqual(["ClusterLoadAssignment a received-error: why"]);
    expect(delta.reported("response-accepted").map(({ isNews }) => isNews)).toEqual([true, true]);
  });

  test("C-ERR-06 S-ERR-03 of what comes with it is none", () => {
    const both = { resources: [received("a", "2")], errors: [errorOf("a", NOT_FOUND), errorOf("b", UNAVAILABLE)] };
    const told = ["1: changed a@2", "2: failed b resource-error: why"];
    const stories = [
      [new ClientStory(), whole(ENDPOINTS, "2", "n2", both)] as const,
      [new ClientStory(sourceOf({ variant: "delta" })), change(ENDPOINTS, "n2", both)] as const,
    ];
    for (const [story, answer] of stories) {
      story.on(started(1, ENDPOINTS, "a"), started(2, ENDPOINTS, "b"));
      story.open(1);
      expect(story.receive(1, answer).slice(0, -1)).toEqual(told);
      expect(story.states).toEqual(["ClusterLoadAssignment a@2 acked", "ClusterLoadAssignment b received-error: why"]);
    }
  });

  test("C-ERR-07 of a resource that comes without a body is told as any other", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    const answer = change(ENDPOINTS, "n1", {
      resources: [empty("a", "")],
      errors: [errorOf("a", PERMISSION_DENIED)],
    });
    expect(story.receive(1, answer)).toEqual([
      "1: absent a does-not-exist",
      "1: failed a resource-error: why",
      "1> ClusterLoadAssignment n1",
    ]);
  });

  test("C-ERR-06 S-ERR-04 in a full state it is remembered when it is said no more", () => {
    const story = new ClientStory();
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, whole(CLUSTER, "1", "n1", { errors: [errorOf("a", UNAVAILABLE)] }));
    expect(story.receive(1, whole(CLUSTER, "2", "n2", []))).toEqual(["1> Cluster [] v2 n2"]);
    expect(story.states).toEqual(["Cluster a received-error: why"]);
  });

  test("B-ERR-12 may be that of a glob collection", () => {
    const glob = "xdstp://x/envoy.config.endpoint.v3.LbEndpoint/d/*";
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, LB_ENDPOINT, glob);
    story.open(1);
    expect(story.receive(1, change(LB_ENDPOINT, "n1", { errors: [errorOf(glob, PERMISSION_DENIED)] }))).toEqual([
      `1: failed ${glob} resource-error: why`,
      "1> LbEndpoint n1",
    ]);
    expect(story.timers).toEqual([]);
    expect(story.states).toEqual([`LbEndpoint ${glob} received-error: why`]);
  });

  test("C-SUB-04 of a name that nobody asked for is nobody's", () => {
    const story = new ClientStory();
    story.on(started(1, ENDPOINTS, "a"));
    story.open(1);
    const stray = whole(ENDPOINTS, "1", "n1", { errors: [errorOf("x", UNAVAILABLE)] });
    expect(story.receive(1, stray)).toEqual(["1> ClusterLoadAssignment [a] v1 n1"]);
    expect(story.reported("response-accepted").map(({ isNews }) => isNews)).toEqual([false]);
    const bad = whole(ENDPOINTS, "2", "n2", [received("x", "2", { problem: "bad" })]);
    expect(story.receive(1, bad)).toEqual(["1> ClusterLoadAssignment [a] v1 n2 !x: bad"]);
    expect(story.states).toEqual(["ClusterLoadAssignment a requested"]);
  });

  test("C-ERR-06 C-DLT-15 of an alias is remembered until what answers to it arrives, under whatever name", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, HOST, "r/x");
    story.open(1);
    story.receive(1, change(HOST, "n1", { errors: [errorOf("r/x", UNAVAILABLE)] }));
    expect(story.states).toEqual(["VirtualHost r/x received-error: why"]);
    story.receive(1, change(HOST, "n2", { resources: [received("r/www", "1", { aliases: ["r/x"] })] }));
    expect(story.states).toEqual(["VirtualHost r/www@1 acked"]);
    expect(story.watch(2, HOST, "r/x")).toEqual(["2: changed r/www@1"]);
  });

  test("C-ERR-07 C-LOC-01 of a name leaves what is held of it for some parameters in use", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.on(...["prod", "test"].map((env, i) => started(i + 1, ENDPOINTS, locatedTerm("a", new Map([["env", env]])))));
    story.open(1);
    const name = variantKey({ name: "a", constraints: { kind: "value", key: "env", value: "prod" } });
    story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1", { name })] }));
    expect(story.receive(1, change(ENDPOINTS, "n2", { errors: [errorOf("a", UNAVAILABLE)] }))).toEqual([
      "1: failed a resource-error: why (holds a@1)",
      "2: failed a resource-error: why",
      "1> ClusterLoadAssignment n2",
    ]);
  });

  test("C-ERR-06 C-CLI-02 is told to whoever wants everything, now and later", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    story.receive(1, change(CLUSTER, "n1", { errors: [errorOf("x", UNAVAILABLE)] }));
    expect(story.watch(2, CLUSTER, "*")).toEqual(["2: failed x resource-error: why", "2: synced"]);
  });

  test("C-ERR-06 C-ERR-07 is its own: nothing else is held for it, and it goes with what it is of", () => {
    const story = new ClientStory(sourceOf({ variant: "delta" }));
    const glob = "xdstp://x/envoy.config.cluster.v3.Cluster/d/*";
    const member = glob.replace("*", "m");
    story.on(started(1, CLUSTER, "*"), started(2, CLUSTER, glob));
    story.open(1);
    story.receive(1, change(CLUSTER, "n1", { resources: [received("b", "1")] }));
    const errors = [errorOf("x", UNAVAILABLE), errorOf(member, UNAVAILABLE)];
    expect(story.receive(1, change(CLUSTER, "n2", { errors }))).toEqual([
      "1: failed x resource-error: why",
      `2: failed ${member} resource-error: why`,
      `1: failed ${member} resource-error: why`,
      "1> Cluster n2",
    ]);
    story.receive(1, change(CLUSTER, "n3", { removed: ["x", member, "b"] }));
    expect(story.watch(3, CLUSTER, "*")).toEqual(["3: synced"]);
    expect(story.watch(4, CLUSTER, glob)).toEqual([]);
  });

  test("C-ERR-09 C-TTL-05 what is not used any more does not expire", () => {
    const story = new ClientStory(sourceOf({ variant: "delta", dialect: { failOnDataErrors: true } }));
    story.watch(1, ENDPOINTS, "a");
    story.open(1);
    story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1", { ttlMs: 1_000 })] }));
    story.receive(1, change(ENDPOINTS, "n2", { errors: [errorOf("a", PERMISSION_DENIED)] }));
    expect(story.timers).toEqual([]);
  });

  test("C-ERR-09 C-OBS-01 is news where it ends what is held", () => {
    const newsOf = (code: number, name = "a"): readonly boolean[] => {
      const story = holding({ failOnDataErrors: true });
      story.watch(2, ENDPOINTS, "b");
      story.receive(1, whole(ENDPOINTS, "2", "n2", { errors: [errorOf(name, code)] }));
      return story.reported("response-accepted").map(({ isNews }) => isNews);
    };
    expect(newsOf(PERMISSION_DENIED)).toEqual([true, true]);
    expect(newsOf(UNAVAILABLE)).toEqual([true, false]);
    expect(newsOf(PERMISSION_DENIED, "b")).toEqual([true, false]);
  });

  test("B-OBS-04 C-CSD-03 of ours names the version that was refused: that of the resource, or of its response", () => {
    const bad = [received("a", "own", { problem: "bad" })];
    const bare = [received("a", "", { problem: "bad" })];
    const versions = [bad, bare].map((resources) => {
      const story = holding();
      story.receive(1, whole(ENDPOINTS, "2", "n2", resources));
      return [...story.machine.states()].map(({ failure }) => failure?.version);
    });
    expect(versions).toEqual([["own"], ["2"]]);
  });
});
