import type { Node, Peer, TypeUrl } from "@xdskit/protocol";
import {
  type AccessPolicy,
  finish,
  hostOf,
  ITEMS_A_STEP,
  isObserver,
  type JudgedNode,
  type LedgerEffect,
  type LedgerState,
  layersFor,
  type PlacedStream,
  type Steps,
  type StreamState,
} from "@xdskit/protocol/internal";
import type { SubscribedNode } from "./ledger/affected-nodes.ts";
import type { ConnectedNode } from "./ledger/connected-node-files.ts";
import type { CertificateFault } from "./transport/grpc/client-trust.ts";

/** The streams of connected nodes, in this process and its workers. */
export interface PlacedStreams {
  placedStreams(): Iterable<PlacedStream>;
  /** With what they subscribe to. */
  subscribedStreams(): Iterable<SubscribingStream>;
}

/** A stream with the types to which it subscribes; `any`: they are not told apart. */
export type SubscribingStream = Pick<PlacedStream, "peer" | "isUnconfirmed"> & {
  readonly node: Node | undefined;
  readonly subscribedTypes: Iterable<TypeUrl> | "any";
};

/** What is known beside a change. */
export interface JudgedWith {
  readonly view: PlacedStreams;
  readonly state: LedgerState;
  /** The access policy after the change; undefined: it stays as it is. */
  readonly policy: AccessPolicy | undefined;
  /** Nodes that count as connected although they have not come back after a restart; some of them may have. */
  readonly absent: Iterable<ConnectedNode>;
}

/** The connected nodes with their layers. */
export function* connectedNodes(view: Pick<PlacedStreams, "placedStreams">): Iterable<ConnectedNode> {
  const known = new Set<string>();
  for (const { node, peer, layers } of counted(view.placedStreams())) {
    const key = keyOf(node, peer);
    if (known.has(key)) continue;
    known.add(key);
    yield { key, id: node.id, layers };
  }
}

/** How many nodes are connected, and how many would not be; by why. */
export interface CutOffCount {
  readonly connected: number;
  readonly untrusted: number;
  readonly revoked: number;
}

/** Counts the nodes that connections with such faults, by their address, are of. A node is cut off if any of its streams is. */
export function countCutOff(
  view: Pick<PlacedStreams, "placedStreams">,
  faulty: ReadonlyMap<string, CertificateFault>,
): CutOffCount {
  const nodes = new Map<string, CertificateFault | undefined>();
  for (const { node, peer } of counted(view.placedStreams())) {
    const key = keyOf(node, peer);
    nodes.set(key, nodes.get(key) ?? faulty.get(peer.address));
  }
  const faults = [...nodes.values()];
  const count = (fault: CertificateFault): number => faults.filter((one) => one === fault).length;
  return { connected: nodes.size, untrusted: count("untrusted"), revoked: count("revoked") };
}

/** The connected nodes, with their layers before and after a change; one is cut off if any of its streams is. */
export function* judgedNodes(change: LedgerEffect, judgedWith: JudgedWith): Steps<Iterable<JudgedNode>> {
  return (yield* judgedByKey(change, judgedWith)).values();
}

/** The connected nodes as `judgedNodes`, with the types to which they subscribe: describes every stream, as a plan may. */
export function subscribedNodes(change: LedgerEffect, judgedWith: JudgedWith): Iterable<SubscribedNode> {
  const types = new Map<string, Set<TypeUrl> | "any">();
  for (const { node, peer, subscribedTypes } of counted(judgedWith.view.subscribedStreams())) {
    const key = keyOf(node, peer);
    const known = types.get(key) ?? new Set();
    types.set(key, known);
    if (subscribedTypes === "any") types.set(key, "any");
    else if (known !== "any") for (const type of subscribedTypes) known.add(type);
  }
  const nodes = [...finish(judgedByKey(change, judgedWith))];
  return nodes.map(([key, node]) => ({ ...node, types: types.get(key) ?? "any" }));
}

function* judgedByKey(
  change: LedgerEffect,
  { view, state, policy, absent }: JudgedWith,
): Steps<ReadonlyMap<string, JudgedNode>> {
  const placement = change.placement ?? state.placement;
  const exists = layersAfter(placement === undefined ? new Map() : yield* growthOf(change.changes), state);
  const nodes = new Map<string, JudgedNode>();
  for (const { node, peer, onlyType, isPoller, layers: before } of counted(view.placedStreams())) {
    const key = keyOf(node, peer);
    const known = nodes.get(key);
    if (known !== undefined && (policy === undefined || known.isCutOff)) continue;
    const placed = placement === undefined ? before : layersFor(placement, { node, peer }, exists);
    const after = "refused" in placed ? undefined : placed;
    const entryPoint = isPoller === true ? "rest" : onlyType === undefined ? "ads" : "stream";
    const grant = policy?.grant({ entryPoint, peer, node }, after ?? []);
    nodes.set(key, {
      ...(known ?? { id: node.id, before, after }),
      isCutOff: grant !== undefined && "denied" in grant,
    });
  }
  // What would become of the rest of their groups and access rules is known once they are back.
  for (const { key, id, layers } of absent)
    if (!nodes.has(key)) nodes.set(key, { id, before: layers, after: layers, isCutOff: false });
  return nodes;
}

type CountedStream = Pick<StreamState, "node" | "isUnconfirmed">;

/** The streams of connected nodes: neither an observer nor a single request by hand, as with curl, is one. */
function* counted<S extends CountedStream>(states: Iterable<S>): Iterable<S & { readonly node: Node }> {
  for (const state of states) if (isCounted(state)) yield state;
}

/** Whether a stream is that of a connected node, as fuses, plans and `xds access check` count them. */
export function isCounted<S extends CountedStream>(state: S): state is S & { readonly node: Node } {
  return state.node !== undefined && state.isUnconfirmed !== true && !isObserver(state.node);
}

/** Clients that share an id are one node, those without an id one for each host. */
function keyOf({ id }: Node, { address }: Peer): string {
  return id === "" ? `host ${hostOf(address)}` : `node ${id}`;
}

/** Whether a layer has resources after it grew. */
function layersAfter(grown: ReadonlyMap<string, number>, state: LedgerState): (layer: string) => boolean {
  const known = new Map<string, boolean>();
  return (layer) => {
    const exists = known.get(layer) ?? sizeExceeds(state.entries([layer]), -(grown.get(layer) ?? 0));
    known.set(layer, exists);
    return exists;
  };
}

/** By how many resources each layer grows. */
function* growthOf(changes: LedgerEffect["changes"]): Steps<ReadonlyMap<string, number>> {
  let taken = 0;
  const grown = new Map<string, number>();
  for (const { layer, before, after } of changes) {
    const difference = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    grown.set(layer, (grown.get(layer) ?? 0) + difference);
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  return grown;
}

function sizeExceeds(list: Iterable<unknown>, size: number): boolean {
  let left = size;
  if (left < 0) return true;
  for (const _ of list) if (--left < 0) return true;
  return false;
}
