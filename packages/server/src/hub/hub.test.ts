import { createBodyEncoder } from "@xdskit/envoy-api/internal";
import { anonymousNode, formatTypeUrl, type PeerCertificate, type Resource, type TypeUrl } from "@xdskit/protocol";
import { bytesOfRequest, finish, ITEMS_A_STEP, openAccess } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import {
  accessOf,
  CLUSTER,
  ENDPOINTS,
  remote,
  request,
  resource,
  settled,
  startHub,
} from "../../test/support/test-hub.ts";
import { defaultLimits } from "../limits.ts";
import type { Hub } from "./hub.ts";

/** So many edits of a table are prepared. */
const EDITED_AT_ONCE = 2_000;
const SECRETS: readonly TypeUrl[] = [
  formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret"),
  formatTypeUrl("envoy.api.v2.auth.Secret"),
];
const certificateOf = (commonName: string): PeerCertificate => ({
  commonName,
  uris: [],
  dnsNames: [],
  validTo: new Date(0),
});

describe("S-ACC-04: a client without an identity that is not on loopback", () => {
  test.each(SECRETS.flatMap((type) => [[type, type] as const, [type, undefined] as const]))(
    "asks for %s on a stream for %s: absent, or PERMISSION_DENIED on a stream of its own",
    async (type, onlyType) => {
      const { hub, open, reports } = startHub();
      hub.commit({ changes: [{ layer: "base", puts: [resource(type, "s")] }] });
      const { ask, received, ended } = open(remote, onlyType);
      ask(request(type, ["s"]));
      await settled();
      expect(received.flat()).toEqual([]);
      expect(ended).toMatchObject(onlyType === undefined ? [] : [{ code: 7, message: /may not have .*Secret/ }]);
      expect(reports.filter(({ kind }) => kind === "access-denied")).toMatchObject([{ type, peer: remote }]);
      hub.close();
    },
  );

  test.each([
    ["insecure", { access: accessOf({ insecure: true }) }, remote],
    ["its certificate names its node", {}, { ...remote, isTls: true, certificate: certificateOf("n") }],
    [
      "a rule allows it",
      { access: accessOf({ access: { rules: [{ identities: ["address:192.0.2.0/24"], types: ["*"] }] } }) },
      remote,
    ],
    ["on loopback", {}, { ...remote, isLoopback: true }],
  ])("is served secrets when %s", async (_, options, peer) => {
    const { hub, open } = startHub(options);
    const [type = CLUSTER] = SECRETS;
    hub.commit({ changes: [{ layer: "base", puts: [resource(type, "s")] }] });
    const { ask, received } = open(peer);
    ask(request(type, ["s"]));
    await settled();
    expect(received).toEqual([["s"]]);
    hub.close();
  });

  test("is refused when its node has a layer of its own, also when that comes later", async () => {
    const { hub, open } = startHub();
    hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c")] }] });
    const { ask, received, ended } = open(remote);
    ask(request(CLUSTER));
    await settled();
    hub.replace({ nodeMapping: () => ["node/n", "base"] });
    expect(received).toEqual([["c"]]);
    expect(ended).toMatchObject([{ code: 16, message: /may not be node "n"/ }]);
    hub.close();
  });
});

describe("a commit takes effect as a whole", () => {
  const nodeMapping = () => ["node/n", "base"];
  const rules = { rules: [{ identities: ["address:192.0.2.0/24"], layers: ["node/n", "base"], types: ["*"] }] };
  const startClient = async () => {
    const { hub, open, reports } = startHub({ access: accessOf({ access: { rules: [{ identities: ["anyone"] }] } }) });
    hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c")] }] });
    const { ask, received, ended } = open(remote);
    ask(request(CLUSTER));
    await settled();
    ask({ ...request(CLUSTER), nonce: "1" });
    return { hub, received, ended, reports };
  };

  test("a client that moves gets the new rules with the new layer, at one revision", async () => {
    const { hub, received, ended, reports } = await startClient();
    const puts = [resource(CLUSTER, "own")];
    expect(
      hub.commit({ changes: [{ layer: "node/n", puts }] }, { nodeMapping, access: accessOf({ access: rules }) }),
    ).toBe(2);
    await settled();
    expect([received, ended]).toEqual([[["c"], ["own"]], []]);
    expect(reports.filter(({ kind }) => kind === "committed")).toMatchObject([{ revision: 1 }, { revision: 2 }]);
    hub.close();
  });

  test("one in steps takes effect in the last of them, and is sent like another", async () => {
    const { hub, received } = await startClient();
    const puts = Array.from({ length: EDITED_AT_ONCE }, (_, i) => resource(CLUSTER, `c${i}`));
    const steps = hub.commitInSteps({ changes: [{ layer: "base", puts, deletes: [{ type: CLUSTER, name: "c" }] }] });
    for (let i = 0; i < EDITED_AT_ONCE / ITEMS_A_STEP; i++) steps.next();
    await settled();
    expect([hub.revision, received]).toEqual([1, [["c"]]]);
    expect(finish(steps)).toBe(2);
    await settled();
    expect(received.slice(1).flat().sort()).toEqual(puts.map(({ name }) => name).sort());
    hub.close();
  });

  test("one in steps takes effect as a whole also if another is committed between them", async () => {
    const { hub } = await startClient();
    const puts = Array.from({ length: EDITED_AT_ONCE }, (_, i) => resource(CLUSTER, `c${i}`, "steps"));
    // What was committed first comes first.
    const inOrder = ([zero, one, ...others]: readonly Resource[]) => [one, zero, ...others];
    const steps = hub.commitInSteps({ changes: [{ layer: "base", puts }] });
    for (let i = 0; i < EDITED_AT_ONCE / ITEMS_A_STEP; i++) steps.next();
    hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c1", "meanwhile")] }] });
    expect(finish(steps)).toBe(3);
    expect([...hub.view.resources(["base"], CLUSTER)]).toEqual([resource(CLUSTER, "c"), ...inOrder(puts)]);
    hub.close();
  });

  test("rules alone are a revision, and make the server no more ready than it is", () => {
    const { hub } = startHub();
    expect([hub.replace({ nodeMapping }), hub.readiness.state]).toEqual([0, "starting"]);
    expect([hub.commit({ changes: [] }), hub.readiness.state]).toEqual([0, "ready"]);
    hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c")] }] });
    expect(hub.replace({ access: accessOf({ access: rules }) })).toBe(2);
    expect(hub.replace({ clients: () => undefined })).toBe(2);
    hub.close();
  });
});

describe("a limit that was passed counts once", () => {
  const hitsOf = (hub: Hub) =>
    Object.fromEntries(hub.view.limits().flatMap(({ name, hits }) => (hits > 0 ? [[name, hits]] : [])));

  test("connections", () => {
    const { hub, reports } = startHub({ limits: { ...defaultLimits, maxConnections: 2 } });
    expect([1, 2, 3].map(() => hub.openConnection(remote, "grpc"))).toEqual([1, 2, undefined]);
    expect(reports.filter(({ kind }) => kind === "limit-hit")).toHaveLength(1);
    expect(hitsOf(hub)).toEqual({ maxConnections: 1 });
    hub.close();
  });

  test.each(["maxStreams", "maxStreamsPerPeer"] as const)("%s", (limit) => {
    const { hub, open } = startHub({ limits: { ...defaultLimits, [limit]: 1 } });
    open(remote);
    expect(() => open(remote)).toThrow(limit);
    expect(hitsOf(hub)).toEqual({ [limit]: 1 });
    hub.close();
  });
});

describe("our own mistakes", () => {
  test("in encoding end the stream they happen on with INTERNAL, and no other", async () => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const { hub, open, reports } = startHub({
      encoder: {
        counters: encoder.counters,
        encodeNonce: (variant, nonce) => encoder.encodeNonce(variant, nonce),
        encodeSome: (body) => encoder.encodeSome(body),
        encode(body) {
          if (body.segments.some(({ puts }) => puts.some(({ name }) => name === "bad"))) throw new Error("cannot");
          return encoder.encode(body);
        },
      },
    });
    hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "bad"), resource(CLUSTER, "good")] }] });
    const [hurt, other] = [open(remote), open(remote)];
    hurt.ask(request(CLUSTER, ["bad"]));
    other.ask(request(CLUSTER, ["good"]));
    await settled();
    expect(hurt.ended).toMatchObject([{ code: 13 }]);
    expect(other).toMatchObject({ ended: [], received: [["good"]] });
    expect(reports).toContainEqual({
      kind: "invariant-broken",
      stream: hurt.stream,
      during: "send",
      error: new Error("cannot"),
    });
    expect(hub.view.openStreams).toBe(1);
    hub.close();
  });
});

test("our own mistake in a turn ends the stream whose turn it was, and no other", async () => {
  let isArmed = false;
  const { hub, open, reports } = startHub({
    traits: (type) => ({
      type,
      kind: type === CLUSTER ? "cds" : "eds",
      isFullState: false,
      get owes(): readonly TypeUrl[] {
        if (isArmed && type === CLUSTER) throw new Error("cannot");
        return [];
      },
    }),
  });
  hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c"), resource(ENDPOINTS, "e")] }] });
  const [hurt, other] = [open(remote), open(remote)];
  hurt.ask(request(CLUSTER, ["c"]));
  other.ask(request(ENDPOINTS, ["e"]));
  isArmed = true;
  await settled();
  expect(hurt).toMatchObject({ received: [], ended: [{ code: 13 }] });
  expect(other).toMatchObject({ received: [["e"]], ended: [] });
  expect(reports).toContainEqual(expect.objectContaining({ kind: "invariant-broken", during: "turn" }));
  hub.close();
});

test("a fan-out is cut into slices: what happens meanwhile does not wait for its end", async () => {
  const { hub, open, reports } = startHub();
  hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c")] }] });
  const clients = Array.from({ length: 3_000 }, () => open(remote));
  for (const { ask } of clients) ask(request(CLUSTER, ["*"]));
  let turns = 0;
  while (clients.some(({ received }) => received.length === 0)) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  const slices = reports.filter((report) => report.kind === "slice-flushed");
  expect(slices.reduce((sum, { responses }) => sum + responses, 0)).toBe(3_000);
  expect(slices.length).toBeGreaterThan(1);
  expect(turns).toBeGreaterThanOrEqual(slices.length);
  expect(slices.slice(0, -1).every(({ isMore }) => isMore)).toBe(true);
  expect(slices.at(-1)?.isMore).toBe(false);
  hub.close();
});

test("nothing is said to a stream that was abandoned, and nothing is kept of it", async () => {
  const { hub, open, reports } = startHub();
  hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c")] }] });
  const { stream, ask, received, ended } = open(remote);
  ask(request(CLUSTER));
  hub.abandon(stream, "cancelled");
  hub.abandon(stream, "cancelled");
  hub.receive(stream, request(CLUSTER), 1);
  hub.endStream(stream, { code: 14, message: "" }, "closed");
  await settled();
  expect({ received, ended, open: hub.view.openStreams }).toEqual({ received: [], ended: [], open: 0 });
  expect(reports.filter(({ kind }) => kind === "stream-closed")).toHaveLength(1);
  expect([...hub.view.streams()]).toEqual([]);
  hub.close();
});

describe("the first who asks for v2", () => {
  const CLUSTER_V2 = formatTypeUrl("envoy.api.v2.Cluster");
  const names = Array.from({ length: 1_000 }, (_, i) => `c${i}`);

  function startLarge() {
    let converted = 0;
    const world = startHub({
      convert: (type, bytes) => {
        converted++;
        return { type: type === CLUSTER ? CLUSTER_V2 : CLUSTER, bytes, findings: [] };
      },
    });
    world.hub.commit({ changes: [{ layer: "base", puts: names.map((name) => resource(CLUSTER, name)) }] });
    return { ...world, converted: () => converted };
  }

  test("has all of it made in turns, and others are served between them", async () => {
    const { open, converted } = startLarge();
    const old = open(remote);
    const other = open(remote);
    old.ask(request(CLUSTER_V2, ["*"]));
    other.ask(request(CLUSTER, ["c7"]));
    const made: number[] = [converted()];
    for (let answeredAt = 0; old.received.length === 0 && made.length < 100; ) {
      await new Promise((resolve) => setImmediate(resolve));
      made.push(converted());
      if (answeredAt === 0 && other.received.length > 0) {
        answeredAt = converted();
        expect(answeredAt).toBeLessThan(500);
      }
    }
    const slices = made.slice(1).map((count, i) => count - (made[i] ?? 0));
    expect([Math.max(made[0] ?? 0, ...slices), converted()]).toEqual([100, 1_000]);
    expect([other.received, old.received.map((one) => one.length)]).toEqual([[["c7"]], [1_000]]);
  });

  test("is answered in order, and with what was changed meanwhile", async () => {
    const { hub, open, converted } = startLarge();
    const old = open(remote);
    old.ask(request(CLUSTER_V2, ["c1", "c999", "new"]));
    old.ask(request(CLUSTER, ["c2"]));
    const finished = open(remote);
    finished.ask(request(CLUSTER_V2, ["c3"]));
    hub.finish(finished.stream);
    const gone = open(remote);
    gone.ask(request(CLUSTER_V2, ["c4"]));
    hub.abandon(gone.stream, "cancelled");
    expect(converted()).toBe(0);
    await new Promise((resolve) => setImmediate(resolve));
    const put = resource(CLUSTER, "new");
    hub.commit({ changes: [{ layer: "base", puts: [put], deletes: [{ type: CLUSTER, name: "c1" }] }] });
    expect([old.received, converted()]).toEqual([[], 101]);
    for (let turn = 0; turn < 30; turn++) await settled();
    // Both answers leave in one write.
    expect(old.received).toEqual([["c999", "new", "c2"]]);
    expect([finished.received, finished.ended]).toEqual([[["c3"]], [{ code: 0, message: "" }]]);
    expect([gone.received, gone.ended]).toEqual([[], []]);
  });

  test("is told if it cannot be made, with whoever waits beside him, and others are served", async () => {
    let left = 250;
    const world = startHub({
      convert: (_, bytes) => {
        if (left-- <= 0) throw new Error("no");
        return { type: CLUSTER_V2, bytes, findings: [] };
      },
    });
    world.hub.commit({ changes: [{ layer: "base", puts: names.map((name) => resource(CLUSTER, name)) }] });
    const [one, two, other] = [world.open(remote), world.open(remote), world.open(remote)];
    one.ask(request(CLUSTER_V2, ["*"]));
    two.ask(request(CLUSTER_V2, ["*"]));
    for (let turn = 0; turn < 10; turn++) await settled();
    other.ask(request(CLUSTER, ["c2"]));
    await settled();
    expect([one.ended, two.ended, other.received]).toEqual([
      [{ code: 13, message: "internal server error; see the log" }],
      [{ code: 13, message: "internal server error; see the log" }],
      [["c2"]],
    ]);
  });
});

describe("content that is not at hand", () => {
  test("a call that ends while its request waits, such as a Fetch, gets no empty answer", async () => {
    const { hub, open } = startHub({ access: openAccess });
    hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c")] }] });
    hub.changeMissing({ added: [{ layer: "base", type: CLUSTER, name: "missing" }], removed: [] });
    const { stream, ask, received, ended } = open(remote, CLUSTER);
    ask(request(CLUSTER, ["missing"]));
    hub.finish(stream);
    await settled();
    expect({ received, ended }).toEqual({
      received: [],
      ended: [{ code: 14, message: expect.stringContaining("not at hand yet") }],
    });
    hub.close();
  });

  test("requests that wait count by what they take decoded: a stream beyond the limit is turned away", async () => {
    const node = { ...anonymousNode, metadata: { list: Array(1_000).fill({}) } };
    const heavy = { ...request(CLUSTER, ["missing"]), node };
    const each = bytesOfRequest(heavy, 10);
    const limits = { ...defaultLimits, maxDebounceMs: 0, maxReceivedBytesPerPeer: 2 * each };
    const { hub, open } = startHub({ access: openAccess, limits });
    hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c")] }] });
    const missing = [{ layer: "base", type: CLUSTER, name: "missing" }];
    const never = { check: () => new Promise<void>(() => undefined) };
    for (const wait of [() => hub.changeMissing({ added: missing, removed: [] }), () => hub.setFreshness(never)]) {
      wait();
      const clients = [open(remote), open(remote), open(remote)];
      for (const { ask } of clients) ask(heavy);
      await settled();
      expect(clients.map(({ ended }) => ended)).toEqual([[], [], [expect.objectContaining({ code: 14 })]]);
      expect(hub.budget.held).toBe(2 * each);
      for (const { stream } of clients) hub.abandon(stream, "cancelled");
      expect(hub.budget.held).toBe(0);
    }
    hub.close();
  });

  test("S-ACC-06: who may not have a resource is answered as if it did not exist, with its content or without", async () => {
    const granting = (name: string) =>
      accessOf({ access: { rules: [{ identities: ["address:192.0.2.0/24"], types: ["*"], names: [name] }] } });
    const { hub, open } = startHub({ access: granting("open") });
    hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "open")] }] });
    hub.changeMissing({ added: [{ layer: "base", type: CLUSTER, name: "closed" }], removed: [] });
    const { ask, received } = open(remote);
    ask(request(CLUSTER, ["closed", "nowhere"]));
    await settled();
    expect(received).toEqual([[]]);
    ask(request(CLUSTER, ["open"]));
    await settled();
    expect(received).toEqual([[], ["open"]]);
    hub.close();
  });

  test("S-ACC-07: a request that waits is answered when the rules take away what it waits for", async () => {
    const { hub, open } = startHub({ access: openAccess });
    hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "open")] }] });
    hub.changeMissing({ added: [{ layer: "base", type: CLUSTER, name: "closed" }], removed: [] });
    const { ask, received } = open(remote);
    ask(request(CLUSTER, ["closed", "open"]));
    await settled();
    expect(received).toEqual([]);
    const rules = [{ identities: ["address:192.0.2.0/24"], types: ["*"], names: ["open"] }];
    hub.replace({ access: accessOf({ access: { rules } }) });
    await settled();
    expect(received).toEqual([["open"]]);
    hub.close();
  });
});
