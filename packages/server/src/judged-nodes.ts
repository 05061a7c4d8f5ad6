import {
  type AccessPolicy,
  hostOf,
  type JudgedNode,
  type LedgerEffect,
  type LedgerState,
  layersFor,
} from "@xdskit/protocol/internal";
import type { HubView } from "./hub/hub-view.ts";

/** What is known beside a change. */
export interface JudgedWith {
  readonly view: HubView;
  readonly state: LedgerState;
  /** The access policy after the change; undefined: it stays as it is. */
  readonly policy: AccessPolicy | undefined;
}

/** The connected nodes, with their layers before and after a change; one is cut off if any of its streams is. */
export function judgedNodes(change: LedgerEffect, { view, state, policy }: JudgedWith): Iterable<JudgedNode> {
  const exists = layersAfter(change, state);
  const placement = change.placement ?? state.placement;
  const nodes = new Map<string, JudgedNode>();
  for (const { node, peer, onlyType, isPoller, layers: before } of view.streams()) {
    if (node === undefined) continue;
    // Clients that share an id are one node, those without an id one for each host.
    const key = node.id === "" ? `host ${hostOf(peer.address)}` : `node ${node.id}`;
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
  return nodes.values();
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
