import { describe, expect, test } from "vitest";
import { ClientStory, errorOf, received, sourceOf, started, whole } from "../../test/support/client-story.ts";
import { CLUSTER, ENDPOINTS, LISTENER } from "../../test/support/resources.ts";
import { locatedTerm } from "../resource/variant-name.ts";
import type { SourceSpec } from "./source.ts";

/** A story whose stream 1 is open, with these watched on it. */
function talking(watches: readonly (readonly [number, typeof CLUSTER, string])[], spec?: SourceSpec): ClientStory {
  const story = new ClientStory(...(spec === undefined ? [] : [spec]));
  story.on(...watches.map(([watch, type, term]) => started(watch, type, term)));
  story.open(1);
  return story;
}

describe("a wildcard of State of the World", () => {
  test("C-SUB-17 is asked for by naming nothing, or by its star", () => {
    expect(talking([[1, CLUSTER, "*"]], sourceOf({ dialect: { explicitWildcard: true } })).requests).toMatchObject([
      { names: ["*"] },
    ]);
    expect(talking([[1, CLUSTER, "*"]]).requests).toMatchObject([{ names: [] }]);
  });

  test("with names besides it needs its star from then on", () => {
    const story = talking([[1, CLUSTER, "*"]]);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    expect(story.watch(2, CLUSTER, "z")).toEqual(["1> Cluster [*,z] v1 n1"]);
    expect(story.stop(2)).toEqual(["1> Cluster [*] v1 n1"]);
    story.watch(3, CLUSTER, "y");
    expect(story.stop(1)).toEqual(["1> Cluster [y] v1 n1"]);
    expect(story.watch(4, LISTENER, "*")).toEqual(["1> Listener []"]);
    expect(story.stop(3)).toEqual(["1> Cluster [] v1 n1"]);
  });

  test("E1 names that are in it are not told, as long as nothing is named", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [2, CLUSTER, "a"],
    ]);
    expect(story.requests).toMatchObject([{ names: [] }]);
    expect(story.watch(3, CLUSTER, "b")).toEqual([]);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1"), received("b", "1")]))).toEqual([
      "2: changed a@1",
      "1: changed a@1",
      "3: changed b@1",
      "1: changed b@1",
      "1: synced",
      "1> Cluster [] v1 n1",
    ]);
    expect(story.receive(1, whole(CLUSTER, "2", "n2", [received("a", "1")]))).toEqual([
      "3: absent b removed",
      "1: absent b removed",
      "1> Cluster [] v2 n2",
    ]);
    expect(story.watch(4, CLUSTER, "a")).toEqual(["4: changed a@1"]);
    expect(story.stop(3)).toEqual([]);
    expect(story.stop(1)).toEqual(["1> Cluster [a] v2 n2"]);
  });

  test("E1 a name that is not in it is told once that is known, and on the next stream from its beginning", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [2, CLUSTER, "a"],
      [3, CLUSTER, "z"],
    ]);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")])).at(-1)).toBe("1> Cluster [*,a,z] v1 n1");
    story.close(1);
    story.pass(250);
    expect(story.open(2)[0]).toMatch(/^2> Cluster \[\*,a,z\]/);
  });

  test("E1 what only newer servers know is named at once, and all else with it", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [2, CLUSTER, "a"],
    ]);
    const name = "xdstp://x/envoy.config.cluster.v3.Cluster/b";
    expect(story.watch(3, CLUSTER, name)).toEqual([`1> Cluster [*,a,${name}]`]);
  });

  test("E1 a name that was in it and is not wanted any more is forgotten, and asked for like any other later", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [2, CLUSTER, "a"],
      [3, CLUSTER, "b"],
    ]);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1"), received("b", "1")]));
    expect(story.stop(2)).toEqual([]);
    const name = "xdstp://x/envoy.config.cluster.v3.Cluster/c";
    expect(story.watch(4, CLUSTER, name)).toEqual([`1> Cluster [*,b,${name}] v1 n1`]);
    expect(story.watch(5, CLUSTER, "a")).toEqual(["5: changed a@1", `1> Cluster [*,b,${name},a] v1 n1`]);
  });

  test("E1 a name that was in it is given up like any other once everything is", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [2, CLUSTER, "a"],
      [9, ENDPOINTS, "e"],
    ]);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    expect(story.stop(1)).toEqual(["1> Cluster [a] v1 n1"]);
    expect(story.stop(2)).toEqual(["1> Cluster [] v1 n1"]);
    expect(story.states).toEqual(["ClusterLoadAssignment e requested"]);
  });

  test("E1 C-NEX-02 a name that is not told is waited for all the same", () => {
    const story = talking([[1, CLUSTER, "*"]]);
    expect(story.watch(2, CLUSTER, "a")).toEqual([]);
    expect(story.pass(15_000)).toEqual(["2: absent a does-not-exist"]);
  });

  test("E1 a name with parameters is none that is in it", () => {
    const story = talking([[1, CLUSTER, "*"]]);
    const term = locatedTerm("a", new Map([["env", "prod"]]));
    expect(story.watch(2, CLUSTER, term)).toEqual(["1> Cluster [*,a {env=prod}]"]);
  });

  test("E1 with its star, or given up but for the server, it covers no name", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [9, ENDPOINTS, "e"],
    ]);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    expect(story.watch(2, CLUSTER, "z")).toEqual(["1> Cluster [*,z] v1 n1"]);
    expect(story.watch(3, CLUSTER, "a")).toEqual(["3: changed a@1", "1> Cluster [*,z,a] v1 n1"]);
    const left = talking([
      [1, CLUSTER, "*"],
      [9, ENDPOINTS, "e"],
    ]);
    left.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    left.stop(1);
    expect(left.watch(2, CLUSTER, "a")).toEqual(["2: changed a@1", "1> Cluster [a] v1 n1"]);
    expect(left.stop(2)).toEqual(["1> Cluster [] v1 n1"]);
  });

  test("asked for by naming nothing cannot be left for nothing: it stays, and is there for the next one", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [9, ENDPOINTS, "a"],
    ]);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    expect(story.stop(1)).toEqual([]);
    expect(story.receive(1, whole(CLUSTER, "2", "n2", [received("a", "2")]))).toEqual(["1> Cluster [] v2 n2"]);
    expect(story.watch(2, CLUSTER, "*")).toEqual(["2: changed a@2", "2: synced"]);
    story.stop(2);
    expect(story.watch(3, CLUSTER, "b")).toEqual(["1> Cluster [b] v2 n2"]);
    expect(story.states).toEqual(["Cluster b requested", "ClusterLoadAssignment a requested"]);
  });

  test("E1 C-NEX-04 where it is for good, names are not told, and what it leaves out does not exist", () => {
    const story = talking([[1, CLUSTER, "*"]], sourceOf({ dialect: { wildcardSticky: true } }));
    expect(story.watch(2, CLUSTER, "z")).toEqual([]);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]))).toEqual([
      "2: absent z does-not-exist",
      "1: changed a@1",
      "1: synced",
      "1> Cluster [] v1 n1",
    ]);
    expect(story.receive(1, whole(CLUSTER, "2", "n2", [received("a", "1"), received("z", "1")]))).toEqual([
      "2: changed z@1",
      "1: changed z@1",
      "1> Cluster [] v2 n2",
    ]);
    expect(story.stop(1)).toEqual([]);
    expect(story.receive(1, whole(CLUSTER, "3", "n3", [received("z", "2")]))).toEqual([
      "2: changed z@2",
      "1> Cluster [] v3 n3",
    ]);
  });

  test("C-NEX-04 S-ERR-04 where it is for good, what has an error or is refused is not left out", () => {
    const story = talking(
      [
        [1, CLUSTER, "*"],
        [2, CLUSTER, "y"],
        [3, CLUSTER, "z"],
      ],
      sourceOf({ dialect: { wildcardSticky: true, nackPolicy: "apply-valid" } }),
    );
    const answer = { resources: [received("z", "1", { problem: "bad" })], errors: [errorOf("y", 14)] };
    expect(story.receive(1, whole(CLUSTER, "1", "n1", answer))).toEqual([
      "2: failed y resource-error: why",
      "1: failed y resource-error: why",
      "3: failed z rejected: bad",
      "1: failed z rejected: bad",
      "1: synced",
      "1> Cluster [] n1 !z: bad",
    ]);
    expect(story.receive(1, whole(CLUSTER, "2", "n2", []))).toEqual([
      "3: absent z does-not-exist",
      "1> Cluster [] v2 n2",
    ]);
    expect(story.states).toEqual(["Cluster y received-error: why", "Cluster z does-not-exist"]);
  });

  test("E1 C-SUB-17 where it is for good, and asked for by its star, the star is all that is told", () => {
    const dialect = { wildcardSticky: true, explicitWildcard: true };
    const story = talking(
      [
        [1, CLUSTER, "z"],
        [2, CLUSTER, "*"],
      ],
      sourceOf({ dialect }),
    );
    expect(story.requests).toMatchObject([{ names: ["*"] }]);
    expect(story.watch(3, CLUSTER, "y")).toEqual([]);
  });

  test("E1 where it is for good a name is forgotten without a word", () => {
    const story = talking(
      [
        [1, CLUSTER, "*"],
        [2, CLUSTER, "z"],
      ],
      sourceOf({ dialect: { wildcardSticky: true } }),
    );
    expect(story.stop(2)).toEqual([]);
    expect(story.states).toEqual([]);
  });

  test("C-ACK-02 asked for after names it is told with the version of those, on the same stream", () => {
    const story = talking([[1, CLUSTER, "a"]]);
    story.receive(1, whole(CLUSTER, "1", "n1", [received("a", "1")]));
    expect(story.watch(2, CLUSTER, "*")).toEqual(["2: changed a@1", "1> Cluster [*,a] v1 n1"]);
  });

  test("synced is told once, and to whoever comes later at once", () => {
    const story = talking([[1, CLUSTER, "*"]]);
    expect(story.receive(1, whole(CLUSTER, "1", "n1", []))).toEqual(["1: synced", "1> Cluster [] v1 n1"]);
    expect(story.receive(1, whole(CLUSTER, "2", "n2", []))).toEqual(["1> Cluster [] v2 n2"]);
    expect(story.watch(2, CLUSTER, "*")).toEqual(["2: synced"]);
  });
});
