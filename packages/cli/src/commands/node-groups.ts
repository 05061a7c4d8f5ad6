import type { NodeAnswer } from "@xdskit/server";

/** The values of `--group-by`. */
export const groupings = ["version", "user-agent", "cluster"] as const;
export type Grouping = (typeof groupings)[number];

/** A count of nodes that share a value. */
export interface NodeGroup {
  /** The type whose version is `value`, when grouping by version. */
  readonly type?: string;
  /** The version, user agent or cluster; "" if the node has none, or has ACKed none. */
  readonly value: string;
  readonly nodes: number;
  /** Nodes that NACKed something; when grouping by version, a response of this type. */
  readonly nacked: number;
}

/** Counts nodes by version, user agent or cluster; within a type, the largest group comes first. */
export function groupNodes(items: readonly NodeAnswer[], by: Grouping): readonly NodeGroup[] {
  const groups = new Map<string, { type?: string; value: string; nodes: number; nacked: number }>();
  const count = (value: string, isNacked: boolean, type?: string): void => {
    const key = JSON.stringify([type, value]);
    const group = groups.get(key) ?? { ...(type !== undefined && { type }), value, nodes: 0, nacked: 0 };
    group.nodes++;
    if (isNacked) group.nacked++;
    groups.set(key, group);
  };
  for (const { cluster, userAgent, types } of items) {
    if (by === "version") {
      for (const { type, shortName = type, acked, nacked } of types) {
        count(acked?.version ?? "", nacked !== undefined, shortName);
      }
      continue;
    }
    const isNacked = types.some(({ nacked }) => nacked !== undefined);
    count(by === "cluster" ? cluster : userAgent, isNacked);
  }
  return [...groups.values()].sort(
    (a, b) => compare(a.type ?? "", b.type ?? "") || b.nodes - a.nodes || compare(a.value, b.value),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
