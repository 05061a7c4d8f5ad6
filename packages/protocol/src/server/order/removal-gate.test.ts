import { expect, test } from "vitest";
import { CLUSTER, LISTENER, plain, ROUTE, resource } from "../../../test/support/resources.ts";
import { streamWith, TypeClient, typeStream } from "../../../test/support/type-streams.ts";
import { OrderMembers } from "./order-members.ts";
import { RemovalGate, type RemovalParts } from "./removal-gate.ts";

const NEVER = Number.POSITIVE_INFINITY;
const [clusters, endpoints] = [{ areClusters: true }, { areClusters: false }];

/** The removals of a client that has ACKed everything, unless these parts say otherwise. */
function gate(parts: Partial<RemovalParts> = {}): RemovalGate {
  return new RemovalGate({
    members: new OrderMembers(),
    warmingClusters: { isEmpty: true, isNew: () => false },
    unready: { isEmpty: true, areAwaited: () => false, readyTo: () => NEVER, awaitedType: undefined },
    client: { awaitsReturn: false },
    ...parts,
  });
}

/** Dependents that the client cannot use yet, so that it uses what was before until then. */
const blockedAt = (revision: number): RemovalParts["unready"] => ({
  ...{ isEmpty: false, areAwaited: () => false, readyTo: () => revision, awaitedType: ROUTE },
});

/** Members with one type that the client was sent nothing of. */
function membersWith(type: typeof ROUTE): OrderMembers {
  const members = new OrderMembers();
  members.join(typeStream(type), streamWith(true, plain("a"), resource(ROUTE, "r", "1")));
  return members;
}

test("S-ORD-05: a removal goes at once if nothing uses what is deleted", () => {
  expect([gate().removable(7, clusters).to, gate().waitOf(7, clusters)]).toEqual([7, undefined]);
});

test("S-ORD-06: nothing is removed while the client is expected back", () => {
  const removals = gate({ client: { awaitsReturn: true } });
  expect([removals.removable(7, clusters).to, removals.waitOf(7, clusters)]).toEqual([-1, { for: "return" }]);
});

test("S-ORD-05: Clusters wait for their users, and endpoints for Clusters too, until the wait times out", () => {
  const wait = (type: typeof ROUTE): unknown => ({ for: "users", type, isNacked: false });
  const removals = gate({ members: membersWith(ROUTE) });
  expect([removals.removable(0, clusters).to, removals.waitOf(0, clusters)]).toEqual([-1, wait(ROUTE)]);
  removals.overrule(0);
  removals.overrule(-1);
  expect([removals.removable(0, clusters).to, removals.waitOf(0, clusters)]).toEqual([0, undefined]);
  const ofEndpoints = gate({ members: membersWith(CLUSTER) });
  expect([ofEndpoints.removable(0, clusters).to, ofEndpoints.removable(0, endpoints).to]).toEqual([0, -1]);
  expect(ofEndpoints.waitOf(0, endpoints)).toEqual(wait(CLUSTER));
});

test("S-ORD-05: a removal waits for dependents that the client cannot use yet", () => {
  const members = new OrderMembers();
  const client = new TypeClient("delta", ROUTE, "a");
  client.put("a1");
  client.flush();
  client.ack();
  members.join(client.type, { current: client.current, isAggregated: true, asksForAllClusters: true });
  const removals = gate({ members, unready: blockedAt(0) });
  expect([removals.removable(1, clusters).to, removals.waitOf(1, clusters)]).toEqual([
    0,
    { for: "users", type: ROUTE, isNacked: false },
  ]);
  expect(gate({ members }).removable(1, clusters).to).toBe(1);
});

test("a client uses the newest Listeners once it has ACKed them and can use what they reference", () => {
  expect(gate().usesNewestListeners).toBe(true);
  expect(gate({ unready: blockedAt(3) }).usesNewestListeners).toBe(false);
  expect(gate({ members: membersWith(LISTENER) }).usesNewestListeners).toBe(false);
});
