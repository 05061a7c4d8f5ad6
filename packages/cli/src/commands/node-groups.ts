import type { NodeAnswer, ProgressAnswer } from "@xdskit/server";

/** The values of `--group-by`. */
export const groupings = ["version", "user-agent", "cluster", "group", "state"] as const;
export type Grouping = (typeof groupings)[number];

/** A count of nodes that share a value. */
export interface NodeGroup {
  /** The type whose version is `value`, when grouping by version. */
  readonly type?: string;
  /** The version, user agent, cluster, groups or state; "" if the node has none, or has ACKed none. */
  readonly value: string;
  readonly nodes: number;
  /** Nodes that NACKed something; when grouping by version, a response of this type. */
  readonly nacked: number;
}

/** How far a node is with the newest revision. */
export type NodeState = "deployed" | "pending" | "waiting" | "nacked";

/** How far each node is; a node that is not named has the revision. */
export function nodeStates({ pending, nacked }: ProgressAnswer): (id: string) => NodeState {
  const states = new Map<string, NodeState>(nacked.nodes.map(({ id }) => [id, "nacked"]));
  for (const { id, types } of pending.nodes)
    states.set(id, types.some(({ waits }) => waits !== undefined) ? "waiting" : "pending");
  return (id) => states.get(id) ?? "deployed";
}

/** Counts nodes by what they have in common; within a type, the largest group comes first. `stateOf` is for `state`. */
export function groupNodes(
  items: readonly NodeAnswer[],
  by: Grouping,
  stateOf: (id: string) => NodeState,
): readonly NodeGroup[] {
  const groups = new Map<string, { type?: string; value: string; nodes: number; nacked: number }>();
  const count = (value: string, isNacked: boolean, type?: string): void => {
    const key = JSON.stringify([type, value]);
    const group = groups.get(key) ?? { ...(type !== undefined && { type }), value, nodes: 0, nacked: 0 };
    group.nodes++;
    if (isNacked) group.nacked++;
    groups.set(key, group);
  };
  for (const { id, cluster, userAgent, layers, types } of items) {
    if (by === "version") {
      for (const { type, shortName = type, acked, nacked } of types) {
        count(acked?.version ?? "", nacked !== undefined, shortName);
      }
      continue;
    }
    const isNacked = types.some(({ nacked }) => nacked !== undefined);
    const values = {
      "user-agent": userAgent,
      cluster,
      group: groupsOf(layers),
      state: by === "state" ? stateOf(id) : "",
    };
    count(values[by], isNacked);
  }
  return [...groups.values()].sort(
    (a, b) => compare(a.type ?? "", b.type ?? "") || b.nodes - a.nodes || compare(a.value, b.value),
  );
}

const GROUP = "group/";

/** The groups among the layers of a node: `canary`, or `canary,frankfurt`. */
function groupsOf(layers: readonly string[]): string {
  const groups = layers.filter((layer) => layer.startsWith(GROUP)).map((layer) => layer.slice(GROUP.length));
  return groups.join(",");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
