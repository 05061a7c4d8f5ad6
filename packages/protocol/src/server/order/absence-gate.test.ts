import type { TypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { CLUSTER, ENDPOINTS, LISTENER, SECRET } from "../../../test/support/resources.ts";
import { answer, TypeClient, typeStream } from "../../../test/support/type-streams.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { UntoldAbsences } from "../type/untold-absences.ts";
import { AbsenceGate } from "./absence-gate.ts";
import { OrderMembers } from "./order-members.ts";

/** A client that was sent everything of its Clusters and Listeners, and what else waits there for names. */
function gateOf(awaited: {
  readonly byClusters?: () => Iterable<string>;
  readonly byListeners?: () => Iterable<string>;
  /** The Cluster that is about to take one of these. */
  readonly by?: string;
}): AbsenceGate {
  const members = new OrderMembers();
  for (const url of [CLUSTER, LISTENER]) {
    const { type, current } = upToDate(url);
    members.join(type, { current, isAggregated: true, asksForAllClusters: true });
  }
  return new AbsenceGate({
    members,
    warmingClusters: { awaited: awaited.byClusters ?? (() => []), awaiting: () => awaited.by },
    unready: { awaitedByReplacements: awaited.byListeners ?? (() => []) },
    clusterSource: { isAggregated: true },
    client: { isReturning: false, awaitsClusters: undefined },
  });
}

/** A client that was sent all there is of a type. */
function upToDate(url: TypeUrl): TypeClient {
  const client = new TypeClient("delta", url, "a");
  client.put("a1");
  client.flush();
  return client.ack();
}

/** A type of which the client was not told that these names are absent. */
function untold(type: TypeUrl, ...names: readonly string[]): TypeStream {
  const untoldAbsences = new UntoldAbsences();
  const { body } = answer(type, 1, []);
  const missing = { ...body, segments: [{ puts: [], removed: [], missing: names }] };
  untoldAbsences.withhold([{ body: missing }], () => ({
    bounds: { to: undefined, overruledTo: -1, isUnmet: () => true, isAwaited: () => true },
    ...{ revision: 1, mayWait: () => true, isUnused: () => false, mustAnswer: false },
  }));
  return Object.assign(typeStream(type, names), { untoldAbsences });
}

test("S-ORD-01: the absence of an endpoint or secret is not told while something in use is about to take it", () => {
  const gate = gateOf({ byClusters: () => ["a"], byListeners: () => ["b"] });
  const unmet = (type: TypeUrl): unknown => {
    const { isUnmet } = gate.boundsOf(typeStream(type, ["a", "b", "c"]));
    return ["a", "b", "c"].filter(isUnmet);
  };
  expect([ENDPOINTS, SECRET].map(unmet)).toEqual([["a"], ["a", "b"]]);
});

test("what is awaited is collected once, however many names are asked about", () => {
  let looked = 0;
  const names = Array.from({ length: 1_000 }, (_, index) => `name-${index}`);
  function* awaited(): Iterable<string> {
    for (const name of names) {
      looked++;
      yield name;
    }
  }
  const { isUnmet } = gateOf({ byClusters: awaited }).boundsOf(typeStream(ENDPOINTS, names));
  expect([names.every(isUnmet), looked]).toEqual([true, names.length]);
});

test("an absence waits for what refers to the name: for Listeners, if they are about to take a secret", () => {
  const gate = gateOf({ byListeners: () => ["certificate"] });
  const wait = (type: TypeUrl): unknown => ({ for: "users", type, isNacked: false });
  const waits = [untold(SECRET, "certificate"), untold(SECRET, "trust"), untold(ENDPOINTS, "certificate")];
  expect(waits.map((one) => gate.waitOf(one))).toEqual([wait(LISTENER), wait(CLUSTER), wait(CLUSTER)]);
  expect(gate.waitOf(typeStream(SECRET))).toBe(undefined);
});

test("an absence waits for what a Cluster in use is about to take, also once the client ACKed that Cluster", () => {
  const gate = gateOf({ byListeners: () => ["certificate"], by: "c" });
  const waits = [untold(ENDPOINTS, "e"), untold(SECRET, "trust"), untold(SECRET, "certificate")];
  expect(waits.map((one) => gate.waitOf(one))).toEqual([
    { for: "endpoints", name: "c" },
    { for: "secret", name: "c" },
    { for: "users", type: LISTENER, isNacked: false },
  ]);
});
