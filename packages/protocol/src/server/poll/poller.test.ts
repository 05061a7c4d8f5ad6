import { describe, expect, test } from "vitest";
import { sotw } from "../../../test/support/conversation.ts";
import { PolledState, pollerOf } from "../../../test/support/pollers.ts";
import { CLUSTER, ENDPOINTS, resource } from "../../../test/support/resources.ts";
import type { SotwRequest } from "../../message/request.ts";
import type { Report } from "../contract/effect.ts";
import { bytesOfValue } from "../memory/value-cost.ts";
import type { Poller } from "./poller.ts";
import { bytesOfPoller } from "./poller-cost.ts";

const no = { code: 13, message: "no" };

/** One poller of Clusters a and b. */
class Polling {
  readonly state = new PolledState("a", "b");
  readonly poller: Poller;

  constructor(nodeId = "n") {
    this.poller = pollerOf(7, "k", this.state.polled(), nodeId);
  }

  get version(): string {
    return this.poller.polled.response().body.version;
  }

  give(): Report {
    return this.poller.give(this.poller.polled.response());
  }

  /** How a poll is understood, with what it reports in short. */
  poll(what: Partial<SotwRequest> = {}): readonly string[] {
    const { as, reports } = this.poller.classify(sotw(CLUSTER, what), () => this.poller.polled.response());
    return [as, ...reports.map((one) => ("nonce" in one ? `${one.kind} ${one.nonce}` : one.kind))];
  }
}

describe("client-behaviours I4: a poll", () => {
  test("is the first one, or repeats one, as long as nothing was given", () => {
    const polling = new Polling();
    expect([polling.poll(), polling.poll({ versionInfo: "other" })]).toEqual([["initial"], ["initial"]]);
    expect([polling.poller.answers, polling.poller.reached, polling.poller.standing(0)]).toEqual([
      false,
      -1,
      "pending",
    ]);
    polling.give();
    expect(polling.poll()).toEqual(["repeat"]);
  });

  test("with the present version ACKs it, even if another server gave it", () => {
    const polling = new Polling();
    expect(polling.poll({ versionInfo: polling.version })).toEqual(["ack"]);
    expect([polling.poller.answers, polling.poller.reached, polling.poller.standing(1)]).toEqual([true, 1, "deployed"]);
    expect(polling.poll({ versionInfo: polling.version })).toEqual(["repeat"]);
    polling.state.put(2, "a");
    expect([polling.poller.reached, polling.poller.standing(2)]).toEqual([1, "pending"]);
  });

  test("with the version that was given ACKs that, once, and clears a NACK", () => {
    const polling = new Polling();
    const { version } = polling;
    expect(polling.give()).toEqual({
      ...{ kind: "response-sent", stream: 7, node: polling.poller.node, type: CLUSTER, nonce: version, version },
      ...{ revision: 1, resources: 2, removed: 0 },
    });
    expect(polling.poll({ error: no })).toEqual(["nack", `response-nacked ${version}`]);
    expect([polling.poller.standing(1), polling.poller.describe().types[0]?.nacked?.error]).toEqual(["nacked", no]);
    expect(polling.poll({ versionInfo: version })).toEqual(["ack", `response-acked ${version}`]);
    expect(polling.poll({ versionInfo: version })).toEqual(["repeat"]);
    expect([polling.poller.standing(1), polling.poller.describe().types[0]?.nacked]).toEqual(["deployed", undefined]);
  });

  test("with an error NACKs what was given, or the present version if its nonce says so, else nothing", () => {
    const polling = new Polling();
    const { version: first } = polling;
    expect(polling.poll({ error: no, nonce: "strange" })).toEqual(["stale"]);
    expect(polling.poller.answers).toBe(false);
    expect(polling.poll({ error: no, nonce: first })).toEqual(["nack", `response-nacked ${first}`]);
    polling.give();
    polling.state.put(2, "a");
    const { version: second } = polling;
    expect(polling.poll({ error: no, nonce: second })).toEqual(["nack", `response-nacked ${second}`]);
    expect(polling.poller.hasRefusedOther(polling.poller.polled.response())).toBe(false);
    expect(polling.poll({ error: no, nonce: first })).toEqual(["nack", `response-nacked ${first}`]);
    const present = polling.poller.polled.response();
    expect([polling.poller.hasRefusedOther(present), polling.poller.wasGiven(present)]).toEqual([true, false]);
    expect(new Polling().poll({ error: no })).toEqual(["stale"]);
  });

  test("with an older version is suspected to be a NACK, reported as one when it is first noticed", () => {
    const polling = new Polling();
    const { version } = polling;
    polling.give();
    const suspected = ["nack", `response-nacked ${version}`, "polled-at-old-version"];
    expect(polling.poll({ versionInfo: "old" })).toEqual(suspected);
    expect(polling.poller.describe().types[0]?.nacked?.error).toEqual({
      code: 2,
      message:
        'suspected: it polls on with version "old" after it was given another one; polling clients do not say why',
    });
    expect(polling.poll({ versionInfo: "old" })).toEqual(["nack", "polled-at-old-version"]);
  });

  test.each([
    ["says who it is, with the third poll in a row", "n", ["a"], [["repeat"], ["repeat"], ["nack"]]],
    ["does not say who it is, never", "", ["a"], [["repeat"], ["repeat"], ["repeat"]]],
    ["was given no resources, never", "n", ["x"], [["repeat"], ["repeat"], ["repeat"]]],
  ])("without a version is suspected of a client that %s", (_, nodeId, names, expected) => {
    const state = new PolledState("a");
    const poller = pollerOf(7, "k", state.polled(names), nodeId);
    const poll = (versionInfo?: string): readonly string[] => [
      poller.classify(sotw(CLUSTER, { versionInfo }), () => poller.polled.response()).as,
    ];
    poller.give(poller.polled.response());
    expect([poll(), poll(), poll()]).toEqual(expected);
  });

  test("without a version counts from the last one with a version", () => {
    const polling = new Polling();
    polling.poll();
    polling.poll({ versionInfo: "other" });
    polling.give();
    expect([polling.poll(), polling.poll()]).toEqual([["repeat"], ["repeat"]]);
    const [nack] = polling.poll();
    expect(nack).toBe("nack");
    expect(polling.poller.describe().types[0]?.nacked?.error.message).toMatch(/polls on with no version after/);
  });

  test("after an ACK is never suspected, until something else is given", () => {
    const polling = new Polling();
    const { version } = polling;
    polling.give();
    polling.poll({ versionInfo: version });
    expect(polling.poll({ versionInfo: "old" })).toEqual(["repeat"]);
    polling.give();
    expect(polling.poll({ versionInfo: "old" })[0]).toBe("nack");
  });
});

describe("what a poller is behind with", () => {
  const about = { type: CLUSTER, wait: undefined };

  test("is nothing, what it was not given, what it did not answer, or what it NACKed", () => {
    const polling = new Polling();
    const { poller, version } = polling;
    expect(poller.behind(1)).toEqual([{ ...about, state: "not-sent", names: [], error: undefined }]);
    polling.give();
    expect(poller.behind(1)).toEqual([{ ...about, state: "pending", names: [], error: undefined }]);
    polling.poll({ error: no });
    expect(poller.behind(1)).toEqual([{ ...about, state: "nacked", names: ["a", "b"], error: no }]);
    polling.state.put(2, "a");
    expect([poller.standing(2), poller.behind(2)[0]?.state]).toEqual(["pending", "not-sent"]);
    polling.give();
    polling.poll({ versionInfo: polling.version });
    expect([poller.behind(2), poller.hasRefused(poller.polled.response())]).toEqual([[], false]);
    expect(polling.version).not.toBe(version);
  });

  test("is not NACKed if another content is", () => {
    const polling = new Polling();
    const { poller } = polling;
    polling.poll({ error: no, nonce: polling.version });
    expect([poller.hasRefused(poller.polled.response()), poller.standing(1)]).toEqual([true, "pending"]);
    polling.give();
    expect(poller.standing(1)).toBe("pending");
  });
});

describe("a poller is described", () => {
  test("as a stream of one type, with what it was given and how that fared", () => {
    const polling = new Polling();
    const { poller, version } = polling;
    const given = { nonce: version, version, revision: 1, resources: 2, removed: 0 };
    const type = {
      ...{ type: CLUSTER, isWildcard: true, names: 0, doesNotExist: [], errors: [], wait: undefined, waiting: [] },
      ...{ sentRevision: undefined, sentVersion: undefined, pendingRemovals: [], ttl: undefined },
      ...{ pending: [], acked: undefined, nacked: undefined },
    };
    expect(poller.describe()).toMatchObject({
      ...{ stream: 7, apiVersion: "v3", variant: "sotw", onlyType: CLUSTER, peer: poller.peer, isPoller: true },
      ...{ node: poller.node, client: "polls 10.0.0.1 n", layers: ["base"], types: [type] },
      isUnconfirmed: true,
    });
    const told = { sentRevision: 1, sentVersion: version };
    polling.give();
    expect(poller.describe().types).toEqual([{ ...type, ...told }]);
    polling.poll({ error: no });
    const nacked = { ...given, error: no, names: ["a", "b"] };
    expect(poller.describe().types).toEqual([{ ...type, ...told, nacked }]);
    polling.poll({ versionInfo: version });
    expect(poller.describe().types).toEqual([{ ...type, ...told, acked: given }]);
    polling.state.put(2, "a");
    polling.give();
    const second = { ...given, nonce: polling.version, version: polling.version, revision: 2 };
    expect(poller.describe().types).toEqual([
      { ...type, sentRevision: 2, sentVersion: polling.version, pending: [second], acked: given },
    ]);
  });

  test("with the TTLs as unsafe, since no heartbeat renews them, and with the names that nothing has", () => {
    const state = new PolledState("a");
    const poller = pollerOf(7, "k", state.polled(["a", "x"]));
    poller.classify(sotw(CLUSTER, { versionInfo: poller.polled.response().body.version }), () =>
      poller.polled.response(),
    );
    expect(poller.describe().types).toMatchObject([
      { isWildcard: false, names: 2, doesNotExist: ["x"], sentRevision: 1, ttl: undefined },
    ]);
    const [one] = [...state.base.tableFor(CLUSTER).resources.values()];
    if (one !== undefined) state.base.put(2, { ...one, ttlMs: 1000 });
    expect(poller.describe().types).toMatchObject([{ ttl: "unsafe" }]);
  });
});

test("a poller of endpoints that are gone has everything, whether it polls on with its former version or no more", () => {
  const state = new PolledState();
  const put = (revision: number): void => {
    state.base.put(revision, resource(ENDPOINTS, "a", `${revision}`));
    state.responses.advance(revision, undefined);
  };
  const poller = pollerOf(7, "k", state.polled(["a"], ENDPOINTS));
  const poll = (versionInfo: string): string =>
    poller.classify(sotw(ENDPOINTS, { versionInfo }), () => poller.polled.response()).as;
  const found = (revision: number): readonly unknown[] => [poller.standing(revision), poller.behind(revision)];
  put(2);
  const { version } = poller.polled.response().body;
  expect([poll(version), ...found(2)]).toEqual(["ack", "deployed", []]);
  state.base.tableFor(ENDPOINTS).delete("a", 3);
  state.responses.advance(3, undefined);
  expect(found(3)).toEqual(["deployed", []]);
  poller.give(poller.polled.response());
  expect([poll(version), ...found(3)]).toEqual(["nack", "deployed", []]);
  put(4);
  expect(poller.standing(4)).toBe("pending");
});

test("a poller costs its key, the first node and one that differs from it, and the reason of its NACK", () => {
  const polling = new Polling();
  const { poller } = polling;
  const { peer, apiVersion, choices, node: first } = poller;
  const plain = bytesOfPoller("k", undefined);
  expect(poller.bytes).toBe(plain + bytesOfValue(first));
  poller.comesAgain({ peer, apiVersion, choices, node: { ...first } });
  expect([poller.node === first, poller.bytes]).toEqual([true, plain + bytesOfValue(first)]);
  for (const label of ["one", "other"]) {
    const node = { ...first, metadata: { label } };
    poller.comesAgain({ peer, apiVersion, choices, node });
    expect([poller.node === node, poller.bytes]).toEqual([true, plain + bytesOfValue(first) + bytesOfValue(node)]);
  }
  const before = poller.bytes;
  polling.give();
  polling.poll({ error: no });
  expect(poller.bytes).toBe(before - plain + bytesOfPoller("k", no.message));
});
