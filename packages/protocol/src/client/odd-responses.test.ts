/** Responses that no server should send: what watches are told stays what is held. */
import { expect, test } from "vitest";
import { ClientStory, change, errorOf, received, sourceOf, whole } from "../../test/support/client-story.ts";
import { CLUSTER, ENDPOINTS } from "../../test/support/resources.ts";

const GLOB = "xdstp://x/envoy.config.cluster.v3.Cluster/d/*";

test("B-ACK-08 a watch of an alias that a rejected response brings is not told what is held under the name", () => {
  const story = new ClientStory(sourceOf({ dialect: { nackPolicy: "all-or-nothing" } }));
  story.watch(1, CLUSTER, "*");
  story.watch(2, CLUSTER, "alias");
  story.watch(3, CLUSTER, "a");
  story.open(1);
  story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
  const resources = [received("a", "2", { aliases: ["alias"] }), received("b", "2", { problem: "bad" })];
  expect(story.receive(1, whole(CLUSTER, "2", "n2", resources)).filter((line) => !line.includes(">"))).toEqual([
    "1: failed b rejected: bad",
    "3: failed a rejected: b: bad (holds a@1)",
    "2: failed a rejected: b: bad",
  ]);
});

test("C-ERR-09 B-VER-02 after a rejected resource is dropped its version is not told, so that the server sends it again", () => {
  const story = new ClientStory(sourceOf({ dialect: { failOnDataErrors: true } }));
  story.watch(1, ENDPOINTS, "a");
  story.open(1);
  story.receive(1, whole(ENDPOINTS, "1", "n1", [received("a", "1")]));
  story.receive(1, whole(ENDPOINTS, "2", "n2", [received("a", "2", { problem: "bad" })]));
  expect(story.reported("response-rejected").map(({ isNews }) => isNews)).toEqual([true]);
  story.close(1);
  story.pass(250);
  expect(story.open(2)).toEqual(["2> ClusterLoadAssignment [a] (me)"]);
});

test("B-ACK-08 a resource that is rejected and loses the watched alias in one response is not told to be held", () => {
  const story = new ClientStory(sourceOf({ variant: "delta", dialect: { nackPolicy: "apply-valid" } }));
  story.watch(1, ENDPOINTS, "alias");
  story.open(1);
  story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1", { aliases: ["alias"] })] }));
  const response = change(ENDPOINTS, "n2", { resources: [received("a", "2", { problem: "bad" })], removed: ["alias"] });
  expect(story.receive(1, response)).toEqual(["1: absent a removed", "1> ClusterLoadAssignment n2 !a: bad"]);
  expect(story.states).toEqual(["ClusterLoadAssignment alias does-not-exist"]);
});

test("E21 of resources with one name the last counts where that is no fault", () => {
  const story = new ClientStory(sourceOf({ dialect: { refuseDuplicates: false, nackPolicy: "apply-valid" } }));
  story.watch(1, CLUSTER, "*");
  story.open(1);
  const resources = [
    received("a", "1"),
    received("b", "1"),
    received("a", "2"),
    received("b", "2", { problem: "bad" }),
  ];
  expect(story.receive(1, whole(CLUSTER, "1", "n1", resources))).toEqual([
    "1: changed a@2",
    "1: failed b rejected: bad",
    "1: synced",
    "1> Cluster [] n1 !b: bad",
  ]);
});

test("S-ERR-03 an error for a resource that the same response rejects is ignored", () => {
  const story = new ClientStory(sourceOf({ variant: "delta", dialect: { nackPolicy: "apply-valid" } }));
  story.watch(1, ENDPOINTS, "a");
  story.open(1);
  story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1")] }));
  const response = { resources: [received("a", "2", { problem: "bad" })], errors: [errorOf("a", 5)] };
  for (const nonce of ["n2", "n3"]) {
    expect(story.receive(1, change(ENDPOINTS, nonce, response))).toEqual([
      "1: failed a rejected: bad (holds a@1)",
      `1> ClusterLoadAssignment ${nonce} !a: bad`,
    ]);
  }
});

test("C-NEX-08 B-XTP-05 a collection that comes without a body has no members", () => {
  const story = new ClientStory(sourceOf({ variant: "delta" }));
  story.watch(1, CLUSTER, GLOB);
  story.open(1);
  const resources = [received(GLOB, "", { bytes: undefined })];
  expect(story.receive(1, change(CLUSTER, "n1", { resources }))).toEqual([
    `1: absent ${GLOB} does-not-exist`,
    "1: synced",
    "1> Cluster n1",
  ]);
});

test.each(["sotw", "delta"] as const)(
  "B-ERR-12 what is said of a collection is forgotten with its watches: %s",
  (variant) => {
    const story = new ClientStory(sourceOf({ variant }));
    story.watch(1, CLUSTER, "*");
    story.open(1);
    const about = {
      resources: [received(GLOB, "1"), received("a", "1", { aliases: [GLOB] })],
      errors: [errorOf(GLOB, 14)],
    };
    const response = (nonce: string) =>
      variant === "sotw" ? whole(CLUSTER, "1", nonce, about) : change(CLUSTER, nonce, about);
    const nack = `!${GLOB}: expected the name of a resource, got that of a collection`;
    expect(story.receive(1, response("n1")).at(-1)).toBe(`1> Cluster ${variant === "sotw" ? "[] " : ""}n1 ${nack}`);
    story.watch(2, CLUSTER, GLOB);
    expect(story.receive(1, response("n2")).filter((line) => line.startsWith("2: changed"))).toEqual([]);
    story.stop(1);
    story.stop(2);
    expect([story.timers, story.states]).toEqual([[], []]);
  },
);
