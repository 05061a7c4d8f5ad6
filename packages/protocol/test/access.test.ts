import type { AccessRule, LayerChange, Peer, TypeUrl, Variant } from "@xdskit/protocol";
import { type AccessPolicy, compileAccess, statusCode } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Conversation, node, type Said } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, resource } from "./support/resources.ts";

const TYPES = [CLUSTER, ENDPOINTS, LISTENER] as const;
const NAMES = ["a/1", "a/2", "b/1"] as const;
const LAYERS = ["group", "base"] as const;

function policyOf(...rules: readonly AccessRule[]): AccessPolicy {
  const policy = compileAccess({ loopback: "rules", rules }, { isSecret: () => false });
  if ("problems" in policy) throw new Error(JSON.stringify(policy.problems));
  return policy;
}

/** Names under `a/` are seen in one layer, all in the other; listeners in neither. */
const partly = policyOf(
  { identities: ["anyone"], layers: ["base"], types: ["Cluster", "ClusterLoadAssignment"], names: ["a/*"] },
  { identities: ["anyone"], layers: ["group"], types: ["Cluster"] },
);

function isSeen(layer: string, type: TypeUrl, name: string): boolean {
  if (layer === "group") return type === CLUSTER;
  return type !== LISTENER && name.startsWith("a/");
}

interface Step {
  readonly kind: "put" | "delete" | "subscribe";
  readonly layer: (typeof LAYERS)[number];
  readonly type: (typeof TYPES)[number];
  readonly name: (typeof NAMES)[number];
  readonly label: string;
}

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("put", "delete", "subscribe"),
  layer: fc.constantFrom(...LAYERS),
  type: fc.constantFrom(...TYPES),
  name: fc.constantFrom(...NAMES),
  label: fc.constantFrom("1", "2"),
});

/** A client that ACKs whatever it is sent. */
function clientOf(variant: Variant, access?: AccessPolicy): Conversation {
  const talk = new Conversation({ nodeMapping: () => LAYERS, ...(access !== undefined && { access }) });
  talk.open(1, variant);
  return talk;
}

function commit(talk: Conversation, change: LayerChange): readonly Said[] {
  talk.commit([change]);
  return talk.settle();
}

/** Subscribes to a name; to `*` besides where the type is one that clients ask for as a whole. */
function subscribe(talk: Conversation, type: TypeUrl, name: string): readonly Said[] {
  return talk.settle(talk.subscribe(1, type, type === ENDPOINTS ? [name] : ["*", name], { node: node("n") }));
}

describe("S-ACC-06: what is not granted is as if it did not exist, before and after any change", () => {
  test.each(["sotw", "delta"] as const)("over %s", (variant) => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 30 }), (steps) => {
        const granted = clientOf(variant, partly);
        const plain = clientOf(variant);
        for (const { kind, layer, type, name, label } of steps) {
          if (kind === "subscribe") {
            const said = subscribe(plain, type, name);
            expect(subscribe(granted, type, name)).toEqual(said);
          } else if (kind === "put" || kind === "delete") {
            const change: LayerChange =
              kind === "put" ? { layer, puts: [resource(type, name, label)] } : { layer, deletes: [{ type, name }] };
            const said = commit(plain, isSeen(layer, type, name) ? change : { layer });
            expect(commit(granted, change)).toEqual(said);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("S-ACC-07: a change of access moves a stream without ending it", () => {
  const all = policyOf({ identities: ["anyone"] });
  const changeTo = (talk: Conversation, access: AccessPolicy): readonly Said[] => {
    talk.asked.push(
      ...talk.machine.on({ kind: "transaction-committed", access }).filter(({ kind }) => kind === "close-stream"),
    );
    return talk.turns();
  };
  const filled = (): Conversation => {
    const talk = new Conversation({ access: all });
    talk.put(...["a/1", "b/1"].map((name) => resource(LISTENER, name, "1")));
    return talk;
  };
  const aOnly = policyOf({ identities: ["anyone"], names: ["a/*"] });

  test("what it may no longer have is removed, and is back with the right to it", () => {
    const talk = filled();
    talk.open(1, "delta");
    expect(talk.subscribe(1, LISTENER, [], { node: node("n") })).toMatchObject([{ says: ["a/1@1", "b/1@1"] }]);
    talk.ack(1, LISTENER);
    expect(changeTo(talk, aOnly)).toMatchObject([{ says: ["-b/1"] }]);
    talk.ack(1, LISTENER);
    talk.put(resource(LISTENER, "b/1", "2"));
    expect(talk.turns()).toEqual([]);
    talk.put(resource(LISTENER, "a/1", "2"));
    expect(talk.turns()).toMatchObject([{ says: ["a/1@2"] }]);
    talk.ack(1, LISTENER);
    expect(changeTo(talk, all)).toMatchObject([{ says: ["b/1@2"] }]);
    expect(talk.asked).toEqual([]);
  });

  test("a stream of one type ends once with the right to the type, others go on", () => {
    const talk = filled();
    talk.open(1, "delta", LISTENER);
    talk.open(2, "delta");
    talk.subscribe(1, LISTENER, [], { node: node("n") });
    talk.subscribe(2, LISTENER, [], { node: node("n") });
    talk.ack(2, LISTENER);
    const clustersOnly = policyOf({ identities: ["anyone"], types: ["Cluster"] });
    expect(changeTo(talk, clustersOnly)).toMatchObject([{ stream: 2, says: ["-a/1", "-b/1"] }]);
    const status = {
      code: statusCode.PERMISSION_DENIED,
      message: "this client may not have envoy.config.listener.v3.Listener here",
    };
    expect(talk.asked).toEqual([{ kind: "close-stream", stream: 1, status }]);
  });

  test("a stream of one type that may not have it ends with its first request, which is looked at no further", () => {
    const talk = new Conversation({ access: policyOf({ identities: ["anyone"], types: ["Cluster"] }) });
    talk.open(1, "delta", LISTENER);
    expect(talk.subscribe(1, LISTENER, [], { node: node("n") })).toEqual([]);
    expect(talk.asked.map(({ kind }) => kind)).toEqual(["close-stream"]);
    expect(talk.reports.map(({ kind }) => kind)).toEqual(["node-connected", "access-denied"]);
    expect([talk.machine.isDue, [...talk.machine.streams()]]).toEqual([false, []]);
  });
});

describe("S-ACC-08: a client that may not be its node is refused, and the operator is told why", () => {
  const edge: AccessRule = { identities: ["spiffe://prod/{id}"], nodes: ["{id}"] };
  const peer: Peer = { address: "192.0.2.7:1", isLoopback: false, isTls: true, names: [] };
  const certified: Peer = {
    ...peer,
    certificate: { commonName: undefined, uris: ["spiffe://prod/pay"], dnsNames: [], validTo: new Date(0) },
  };
  test.each([
    ["without a certificate", peer, statusCode.UNAUTHENTICATED],
    ["with another one's", certified, statusCode.PERMISSION_DENIED],
  ])("%s", (_, from, code) => {
    const talk = new Conversation({ access: policyOf(edge) });
    talk.open(1, "delta", undefined, 1, { peer: from });
    talk.subscribe(1, CLUSTER, [], { node: node("edge") });
    const status = { code, message: 'this client may not be node "edge" here' };
    expect(talk.asked).toEqual([{ kind: "close-stream", stream: 1, status }]);
    expect(talk.reports).toMatchObject([{ kind: "access-denied", type: undefined, peer: from }]);
    const poll = talk.poll(CLUSTER, { node: node("edge") }, { peer: from });
    expect(talk.reports.map(({ kind }) => kind)).toEqual(["access-denied", "access-denied"]);
    expect(talk.asked.slice(1)).toEqual([{ kind: "refuse-poll", poll, status }]);
  });
});

test("polls of two identities behind one address are two pollers", () => {
  const talk = new Conversation();
  talk.put(resource(CLUSTER, "a", "1"));
  for (const uri of ["spiffe://prod/a", "spiffe://prod/b", "spiffe://prod/a"]) {
    const certificate = { commonName: undefined, uris: [uri], dnsNames: [], validTo: new Date(0) };
    const peer: Peer = { address: "192.0.2.7:1", isLoopback: false, isTls: true, names: [uri], certificate };
    talk.poll(CLUSTER, { node: node("n") }, { peer });
  }
  const identities = [...talk.machine.streams()].flatMap(({ peer }) => peer.names);
  expect(identities.sort()).toEqual(["spiffe://prod/a", "spiffe://prod/b"]);
});
