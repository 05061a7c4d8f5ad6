import type { Node, Peer, TypeUrl } from "@xdskit/protocol";
import {
  type AccessPolicy,
  hostOf,
  type JudgedNode,
  type LedgerEffect,
  type LedgerState,
  layersFor,
} from "@xdskit/protocol/internal";
import type { HubView } from "./hub/hub-view.ts";
import type { ChangeReach } from "./ledger/publication.ts";

/** What is known beside a change. */
export interface JudgedWith {
  readonly view: HubView;
  readonly state: LedgerState;
  /** The access policy after the change; undefined: it stays as it is. */
  readonly policy: AccessPolicy | undefined;
}

/** The connected nodes, with their layers before and after a change; one is cut off if any of its streams is. */
export function judgedNodes(change: LedgerEffect, judgedWith: JudgedWith): Iterable<JudgedNode> {
  return judgedByKey(change, judgedWith).values();
}

/** Which connected nodes a change concerns. Looks at every stream. */
export function reachOf(change: LedgerEffect, judgedWith: JudgedWith): ChangeReach {
  const changed = new Map<string, Set<TypeUrl>>();
  for (const { layer, type } of change.changes) changed.set(layer, (changed.get(layer) ?? new Set()).add(type));
  const subscribed = new Set<string>();
  const nodes = judgedByKey(change, judgedWith);
  for (const { node, peer, types, apiVersion } of judgedWith.view.streams()) {
    if (node === undefined) continue;
    const key = keyOf(node, peer);
    const { before = [], after = [] } = nodes.get(key) ?? {};
    // What a client of v2 subscribes to has another name.
    const isTouched = (layer: string): boolean =>
      apiVersion === "v3" ? types.some(({ type }) => changed.get(layer)?.has(type) === true) : changed.has(layer);
    if ([...before, ...after].some(isTouched)) subscribed.add(key);
  }
  const reach = { nodes: nodes.size, concerned: 0, moved: 0, cutOff: 0 };
  for (const [key, { before, after, isCutOff }] of nodes) {
    const isLost = isCutOff || after === undefined;
    const isMoved = after !== undefined && before.join("\n") !== after.join("\n");
    if (isLost) reach.cutOff++;
    if (isMoved) reach.moved++;
    if (isLost || isMoved || subscribed.has(key)) reach.concerned++;
  }
  return reach;
}

function judgedByKey(change: LedgerEffect, { view, state, policy }: JudgedWith): ReadonlyMap<string, JudgedNode> {
  const exists = layersAfter(change, state);
  const placement = change.placement ?? state.placement;
  const nodes = new Map<string, JudgedNode>();
  for (const { node, peer, onlyType, isPoller, layers: before } of view.streams()) {
    if (node === undefined) continue;
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
  return nodes;
}

/** Clients that share an id are one node, those without an id one for each host. */
function keyOf({ id }: Node, { address }: Peer): string {
  return id === "" ? `host ${hostOf(address)}` : `node ${id}`;
}

/** Whether a layer has resources after a change. */
function layersAfter({ changes }: LedgerEffect, state: LedgerState): (layer: string) => boolean {
  const grown = new Map<string, number>();
  for (const { layer, before, after } of changes) {
    const difference = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    grown.set(layer, (grown.get(layer) ?? 0) + difference);
  }
  const known = new Map<string, boolean>();
  return (layer) => {
    const exists = known.get(layer) ?? sizeExceeds(state.entries([layer]), -(grown.get(layer) ?? 0));
    known.set(layer, exists);
    return exists;
  };
}

function sizeExceeds(list: Iterable<unknown>, size: number): boolean {
  let left = size;
  if (left < 0) return true;
  for (const _ of list) if (--left < 0) return true;
  return false;
}
