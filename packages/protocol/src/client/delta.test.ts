import { describe, expect, test } from "vitest";
import { ClientStory, change, empty, received, sourceOf, started } from "../../test/support/client-story.ts";
import { CLUSTER, ENDPOINTS, HOST, LB_ENDPOINT, LISTENER, ROUTE } from "../../test/support/resources.ts";
import type { ClientDialect } from "../dialect/client-dialect.ts";
import { noInitialVersions } from "../message/request.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/** A story whose delta stream 1 is open, with these watched on it. */
function talking(
  watches: readonly (readonly [number, TypeUrl, string])[],
  dialect: Partial<ClientDialect> = {},
): ClientStory {
  const story = new ClientStory(sourceOf({ variant: "delta", dialect }));
  story.on(...watches.map(([watch, type, term]) => started(watch, type, term)));
  story.open(1);
  return story;
}

describe("a delta conversation", () => {
  test("C-DLT-03 C-DLT-04 asks for differences, and tells a nonce with answers alone", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    expect(story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1")] }))).toEqual([
      "1: changed a@1",
      "1> ClusterLoadAssignment n1",
    ]);
    expect(story.watch(2, ENDPOINTS, "b")).toEqual(["1> ClusterLoadAssignment +b"]);
    expect(story.on({ kind: "watch-stopped", watch: 1 }, started(3, ENDPOINTS, "c"))).toEqual([
      "1> ClusterLoadAssignment +c -a",
    ]);
    expect(story.states).toEqual(["ClusterLoadAssignment b requested", "ClusterLoadAssignment c requested"]);
  });

  test("C-RES-09 C-DEL-05 C-DEL-06 what is not named is untouched, what is removed is gone and stays wanted", () => {
    const story = talking([
      [1, ENDPOINTS, "a"],
      [2, ENDPOINTS, "b"],
    ]);
    story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1"), received("b", "1")] }));
    expect(story.receive(1, change(ENDPOINTS, "n2", { removed: ["a", "ghost"] }))).toEqual([
      "1: absent a removed",
      "1> ClusterLoadAssignment n2",
    ]);
    expect(story.states).toEqual(["ClusterLoadAssignment b@1 acked", "ClusterLoadAssignment a does-not-exist"]);
    expect(story.watch(3, ENDPOINTS, "a")).toEqual(["3: absent a does-not-exist"]);
    expect(story.receive(1, change(ENDPOINTS, "n3", { resources: [received("a", "2")] }))).toEqual([
      "1: changed a@2",
      "3: changed a@2",
      "1> ClusterLoadAssignment n3",
    ]);
  });

  test("C-REC-07 C-REC-08 what was refused and never held is not told to a new stream as held", () => {
    const story = talking([
      [1, ENDPOINTS, "a"],
      [2, ENDPOINTS, "b"],
    ]);
    expect(story.requests).toMatchObject([{ initialVersions: noInitialVersions }]);
    story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1")] }));
    story.receive(1, change(ENDPOINTS, "n2", { resources: [received("b", "1", { problem: "bad" })] }));
    story.close(1);
    story.pass(500);
    expect(story.open(2)).toEqual(["2> ClusterLoadAssignment +a +b {a@1} (me)"]);
    expect(story.requests.at(-1)).toMatchObject({ initialVersions: { size: 1 } });
    expect(story.timers).toEqual([15_000]);
    expect(story.receive(2, change(ENDPOINTS, "n1", { removed: ["b"] }))).toEqual([
      "2: absent b does-not-exist",
      "2> ClusterLoadAssignment n1",
    ]);
    expect(story.states).toEqual(["ClusterLoadAssignment a@1 acked", "ClusterLoadAssignment b does-not-exist"]);
  });

  test("C-NEX-08 both forms of 'there is none' are taken, and told once", () => {
    const story = talking([
      [1, ENDPOINTS, "a"],
      [2, ENDPOINTS, "b"],
    ]);
    expect(story.receive(1, change(ENDPOINTS, "n1", { resources: [empty("a", "")], removed: ["b"] }))).toEqual([
      "2: absent b does-not-exist",
      "1: absent a does-not-exist",
      "1> ClusterLoadAssignment n1",
    ]);
    expect(story.receive(1, change(ENDPOINTS, "n2", { removed: ["b"] }))).toEqual(["1> ClusterLoadAssignment n2"]);
    expect(story.timers).toEqual([]);
  });

  test("C-UNS-02 B-UNS-11 C-DLT-20 a name given up and wanted again at once is asked for anew", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1")] }));
    expect(story.on({ kind: "watch-stopped", watch: 1 }, started(2, ENDPOINTS, "a"))).toEqual([
      "2: changed a@1",
      "1> ClusterLoadAssignment +a",
    ]);
    expect(
      story.on({ kind: "watch-stopped", watch: 2 }, started(3, ENDPOINTS, "b"), started(4, ENDPOINTS, "c"), {
        kind: "watch-stopped",
        watch: 4,
      }),
    ).toEqual(["1> ClusterLoadAssignment +b -a"]);
  });

  test("C-DLT-15 a resource satisfies those who asked for it by an alias", () => {
    const story = talking([
      [1, HOST, "r/x.example"],
      [2, HOST, "r/www"],
    ]);
    const host = received("r/www", "1", { aliases: ["r/x.example", "r/www.example"] });
    expect(story.receive(1, change(HOST, "n1", { resources: [host] }))).toEqual([
      "2: changed r/www@1",
      "1: changed r/www@1",
      "1> VirtualHost n1",
    ]);
    expect(story.watch(3, HOST, "r/www.example")).toEqual(["3: changed r/www@1", "1> VirtualHost +r/www.example"]);
    expect(story.timers).toEqual([]);
    expect(story.receive(1, change(HOST, "n2", { removed: ["r/www"] }))).toEqual([
      "2: absent r/www removed",
      "1: absent r/www removed",
      "3: absent r/www removed",
      "1> VirtualHost n2",
    ]);
  });

  test("C-DLT-15 who knows a resource by an alias that it loses is told", () => {
    const story = talking([
      [1, HOST, "r/x"],
      [2, HOST, "r/www"],
    ]);
    story.receive(1, change(HOST, "n1", { resources: [received("r/www", "1", { aliases: ["r/x"] })] }));
    expect(story.receive(1, change(HOST, "n2", { resources: [received("r/www", "2")] }))).toEqual([
      "1: absent r/www removed",
      "2: changed r/www@2",
      "1> VirtualHost n2",
    ]);
    const other = talking([[1, HOST, "r/x"]]);
    other.receive(1, change(HOST, "n1", { resources: [received("r/www", "1", { aliases: ["r/x"] })] }));
    expect(other.receive(1, change(HOST, "n2", { removed: ["r/x"] }))).toEqual([
      "1: absent r/www removed",
      "1> VirtualHost n2",
    ]);
    expect(other.states).toEqual(["VirtualHost r/x does-not-exist"]);
  });

  test("C-DLT-15 S-DLT-16 an alias that is removed is lost, and leaves what is known by another", () => {
    const story = talking([
      [1, HOST, "r/x"],
      [2, HOST, "r/y"],
    ]);
    const host = received("r/www", "1", { aliases: ["r/x", "r/y"] });
    story.receive(1, change(HOST, "n1", { resources: [host] }));
    expect(story.receive(1, change(HOST, "n2", { removed: ["r/x"] }))).toEqual([
      "1: absent r/www removed",
      "1> VirtualHost n2",
    ]);
    expect(story.states).toEqual(["VirtualHost r/www@1 acked", "VirtualHost r/x does-not-exist"]);
    expect(story.watch(3, HOST, "r/x")).toEqual(["3: absent r/x does-not-exist"]);
    expect(story.watch(4, HOST, "r/y")).toEqual(["4: changed r/www@1"]);
    expect(story.reported("response-accepted").map(({ isNews }) => isNews)).toEqual([true, true]);
  });

  test("C-DLT-15 an alias of what was refused may be removed, and nothing is lost", () => {
    const story = talking([[1, HOST, "r/x"]]);
    const bad = received("r/www", "1", { aliases: ["r/x"], problem: "bad" });
    story.receive(1, change(HOST, "n1", { resources: [bad] }));
    expect(story.receive(1, change(HOST, "n2", { removed: ["r/x"] }))).toEqual([
      "1: absent r/x does-not-exist",
      "1> VirtualHost n2",
    ]);
    expect(story.reported("response-accepted").map(({ isNews }) => isNews)).toEqual([false]);
  });

  test("C-DLT-15 an alias that is the name itself is no second resource", () => {
    const story = talking([[1, HOST, "r/www"]]);
    const host = received("r/www", "1", { aliases: ["r/www", "r/x"] });
    expect(story.receive(1, change(HOST, "n1", { resources: [host] }))[0]).toBe("1: changed r/www@1");
    expect(story.watch(2, HOST, "r/www")).toEqual(["2: changed r/www@1"]);
  });

  test("C-DLT-15 a resource that nobody knows any more by its aliases is dropped, which is news", () => {
    const story = talking([[1, HOST, "r/x"]]);
    story.receive(1, change(HOST, "n1", { resources: [received("r/www", "1", { aliases: ["r/x"] })] }));
    expect(story.receive(1, change(HOST, "n2", { resources: [received("r/www", "1", { aliases: ["r/y"] })] }))).toEqual(
      ["1: absent r/www removed", "1> VirtualHost n2"],
    );
    expect(story.reported("response-accepted").map(({ isNews }) => isNews)).toEqual([true, true]);
    expect(story.states).toEqual(["VirtualHost r/x does-not-exist"]);
  });

  test("C-DLT-15 C-CLI-02 what is refused is known by its aliases, and forgotten with the last who asked by one", () => {
    const story = talking([
      [1, HOST, "r/x"],
      [9, CLUSTER, "*"],
    ]);
    const bad = received("r/www", "1", { aliases: ["r/x"], problem: "bad" });
    story.receive(1, change(HOST, "n1", { resources: [bad] }));
    expect(story.watch(2, HOST, "r/x")).toEqual(["2: failed r/www rejected: bad"]);
    expect(story.states).toEqual(["VirtualHost r/www nacked: bad"]);
    story.on({ kind: "watch-stopped", watch: 1 }, { kind: "watch-stopped", watch: 2 });
    expect(story.states).toEqual([]);
  });

  test("B-TTL-17 C-VHD-06 an empty virtual host says that there is none; an equal one is no news", () => {
    const story = talking([[1, HOST, "r/a"]]);
    const host = received("r/a", "1");
    story.receive(1, change(HOST, "n1", { resources: [host] }));
    expect(story.receive(1, change(HOST, "n2", { resources: [{ ...host, version: "2" }] }))).toEqual([
      "1> VirtualHost n2",
    ]);
    expect(story.receive(1, change(HOST, "n3", { resources: [empty("r/a", "2")] }))).toEqual([
      "1: absent r/a removed",
      "1> VirtualHost n3",
    ]);
  });

  test("B-VER-07 what is for people only changes nothing", () => {
    const story = talking([[1, ENDPOINTS, "a"]]);
    const answer = change(ENDPOINTS, "n1", { systemVersion: "whatever", resources: [received("a", "1")] });
    expect(story.receive(1, answer)).toEqual(["1: changed a@1", "1> ClusterLoadAssignment n1"]);
    story.receive(1, change(ENDPOINTS, "n2", { removed: ["x", "y"] }));
    const reported = story.reported("response-accepted");
    expect(reported.map(({ version, resources, removed, isNews }) => [version, resources, removed, isNews])).toEqual([
      ["whatever", 1, 0, true],
      ["", 0, 2, false],
    ]);
  });

  test("C-DEL-10 Listeners and Clusters that were deleted go on being used where that is wanted", () => {
    const story = talking(
      [
        [1, CLUSTER, "*"],
        [2, ROUTE, "r"],
      ],
      { ignoreDeletion: true },
    );
    story.receive(1, change(CLUSTER, "n1", { resources: [received("a", "1")] }));
    story.receive(1, change(ROUTE, "n2", { resources: [received("r", "1")] }));
    story.watch(3, LISTENER, "l");
    story.receive(1, change(LISTENER, "n2", { resources: [received("l", "1")] }));
    expect(story.receive(1, change(LISTENER, "n3", { removed: ["l"] }))[0]).toBe("3: absent l removed (holds l@1)");
    story.stop(3);
    expect(story.receive(1, change(CLUSTER, "n3", { removed: ["a"] }))).toEqual([
      "1: absent a removed (holds a@1)",
      "1> Cluster n3",
    ]);
    expect(story.receive(1, change(ROUTE, "n4", { removed: ["r"] }))).toEqual([
      "2: absent r removed",
      "1> RouteConfiguration n4",
    ]);
    expect(story.states).toEqual(["Cluster a@1 does-not-exist", "RouteConfiguration r does-not-exist"]);
    story.close(1);
    story.pass(500);
    expect(story.open(2)).toEqual(["2> Cluster (me)", "2> RouteConfiguration +r"]);
    expect(story.receive(2, change(CLUSTER, "n1", { resources: [received("a", "1")] }))).toEqual([
      "1: changed a@1",
      "2> Cluster n1",
    ]);
  });
});

describe("a wildcard of delta", () => {
  test("C-SUB-17 B-DLT-11 is asked for by naming nothing first, and lives on beside names", () => {
    const story = talking([[1, CLUSTER, "*"]]);
    expect(story.requests).toMatchObject([{ subscribe: [], unsubscribe: [] }]);
    expect(story.watch(2, CLUSTER, "z")).toEqual(["1> Cluster +z"]);
    expect(talking([[1, CLUSTER, "*"]], { explicitWildcard: true }).requests).toMatchObject([{ subscribe: ["*"] }]);
  });

  test("C-UNS-09 leaving it drops what only it held", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [2, CLUSTER, "a"],
    ]);
    expect(story.requests).toMatchObject([{ subscribe: ["*", "a"] }]);
    story.receive(1, change(CLUSTER, "n1", { resources: [received("a", "1"), received("b", "1")] }));
    expect(story.stop(1)).toEqual(["1> Cluster -*"]);
    expect(story.states).toEqual(["Cluster a@1 acked"]);
  });

  test("C-UNS-09 it is given up by its star, though it was never named", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [9, ENDPOINTS, "e"],
    ]);
    expect(story.stop(1)).toEqual(["1> Cluster -*"]);
    expect(story.watch(2, CLUSTER, "*")).toEqual(["1> Cluster +*"]);
  });

  test("C-UNS-07 C-REC-06 a name given up beside it stays held until the server says whether it is covered", () => {
    const story = talking([
      [1, CLUSTER, "*"],
      [2, CLUSTER, "z"],
    ]);
    story.receive(1, change(CLUSTER, "n1", { resources: [received("a", "1"), received("z", "1")] }));
    expect(story.stop(2)).toEqual(["1> Cluster -z"]);
    expect(story.states).toEqual(["Cluster a@1 acked", "Cluster z@1 acked"]);
    story.close(1);
    story.pass(500);
    expect(story.open(2)).toEqual(["2> Cluster {a@1,z@1} (me)"]);
    expect(story.receive(2, change(CLUSTER, "n1", { removed: ["z"] }))).toEqual([
      "1: absent z removed",
      "2> Cluster n1",
    ]);
  });

  test("C-REC-06 C-WRM-04 what a new stream lists at its version is confirmed, because the server does not resend it", () => {
    const story = talking([
      [1, ENDPOINTS, "a"],
      [2, ENDPOINTS, "b"],
    ]);
    story.watch(3, ENDPOINTS, "a", { wantsConfirmations: true });
    story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1")] }));
    story.close(1);
    story.pass(500);
    expect(story.open(2)).toEqual(["2> ClusterLoadAssignment +a +b {a@1} (me)", "3: confirmed a@1"]);
  });

  test("E1 where it is for good names are not told, and waited for all the same", () => {
    const story = talking([[1, CLUSTER, "*"]], { wildcardSticky: true });
    expect(story.watch(2, CLUSTER, "z")).toEqual([]);
    expect(story.pass(15_000)).toEqual(["2: absent z does-not-exist"]);
    expect(story.stop(2)).toEqual([]);
    expect(story.states).toEqual([]);
  });

  test("E1 C-SUB-17 where it is for good, and asked for by its star, the star is all that is told", () => {
    const dialect = { wildcardSticky: true, explicitWildcard: true };
    const story = talking(
      [
        [1, CLUSTER, "z"],
        [2, CLUSTER, "*"],
      ],
      dialect,
    );
    expect(story.requests).toMatchObject([{ subscribe: ["*"], unsubscribe: [] }]);
    expect(story.watch(3, CLUSTER, "y")).toEqual([]);
    const later = talking([[1, CLUSTER, "a"]], dialect);
    expect(later.on(started(2, CLUSTER, "b"), started(3, CLUSTER, "*"))).toEqual(["1> Cluster +*"]);
  });
});

describe("a glob", () => {
  const glob = "xdstp://x/envoy.config.endpoint.v3.LbEndpoint/d/*";
  const member = "xdstp://x/envoy.config.endpoint.v3.LbEndpoint/d/1";

  test("is asked for as it is, and told what is in it", () => {
    const story = talking([
      [1, LB_ENDPOINT, glob],
      [2, LB_ENDPOINT, member.replace("/d/", "/e/")],
    ]);
    expect(story.receive(1, change(LB_ENDPOINT, "n1", { resources: [received(member, "1")] }))).toEqual([
      `1: changed ${member}@1`,
      "1: synced",
      "1> LbEndpoint n1",
    ]);
    expect(story.watch(3, LB_ENDPOINT, glob)).toEqual([`3: changed ${member}@1`, "3: synced"]);
    expect(story.stop(3)).toEqual([]);
    expect(story.stop(1)).toEqual([`1> LbEndpoint -${glob}`]);
    expect(story.states).toHaveLength(1);
  });

  test("B-XTP-05 that is empty is told so, by the server or by its silence", () => {
    const story = talking([[1, LB_ENDPOINT, glob]]);
    expect(story.receive(1, change(LB_ENDPOINT, "n1", { removed: [glob] }))).toEqual([
      `1: absent ${glob} does-not-exist`,
      "1: synced",
      "1> LbEndpoint n1",
    ]);
    const silent = talking([[1, LB_ENDPOINT, glob]]);
    expect(silent.pass(15_000)).toEqual([`1: absent ${glob} does-not-exist`]);
  });

  test("B-XTP-05 that becomes empty loses its members", () => {
    const stranger = member.replace("/d/", "/e/");
    const story = talking([
      [1, LB_ENDPOINT, glob],
      [2, LB_ENDPOINT, stranger],
    ]);
    story.receive(1, change(LB_ENDPOINT, "n1", { resources: [received(member, "1"), received(stranger, "1")] }));
    expect(story.watch(3, LB_ENDPOINT, glob)).toEqual([`3: changed ${member}@1`, "3: synced"]);
    story.stop(3);
    expect(story.receive(1, change(LB_ENDPOINT, "n2", { removed: [glob] }))).toEqual([
      `1: absent ${member} removed`,
      `1: absent ${glob} does-not-exist`,
      "1> LbEndpoint n2",
    ]);
  });
});
