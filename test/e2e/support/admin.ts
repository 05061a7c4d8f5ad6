import type { XdsServer } from "./server.ts";

/** The delivery status of a type, per node and stream. */
export interface DeliveryRow {
  readonly node: string;
  readonly type: string;
  readonly shortName?: string;
  readonly state: string;
  readonly reason?: string;
  readonly version?: string;
  readonly waits?: {
    readonly for: string;
    readonly name?: string;
    readonly shortName?: string;
    readonly nacked?: boolean;
    readonly resources?: readonly string[];
  };
  readonly pendingRemovals?: readonly string[];
  readonly doesNotExist?: readonly string[];
}

export async function deliveries(server: XdsServer): Promise<readonly DeliveryRow[]> {
  return ((await server.admin("/api/v1/deliveries?limit=1000")) as { items: readonly DeliveryRow[] }).items;
}

/** The delivery state of each type of a node: "acked" if all of its streams agree. */
export async function fates(server: XdsServer, node: string): Promise<Readonly<Record<string, string>>> {
  const byType = new Map<string, Set<string>>();
  for (const row of await deliveries(server)) {
    if (row.node !== node || row.shortName === undefined) continue;
    byType.set(row.shortName, (byType.get(row.shortName) ?? new Set()).add(row.state));
  }
  return Object.fromEntries([...byType].map(([type, states]) => [type, [...states].sort().join()]));
}

/** The number of names that a node subscribes to, by type, over all of its streams. */
export async function subscriptions(server: XdsServer, node: string): Promise<Readonly<Record<string, number>>> {
  const { items } = (await server.admin("/api/v1/streams?limit=1000")) as {
    items: readonly {
      readonly node?: { readonly id: string };
      readonly types: readonly { readonly shortName?: string; readonly names: number }[];
    }[];
  };
  const counts = new Map<string, number>();
  for (const stream of items) {
    if (stream.node?.id !== node) continue;
    for (const { shortName = "", names } of stream.types) counts.set(shortName, (counts.get(shortName) ?? 0) + names);
  }
  return Object.fromEntries(counts);
}

/** The number of NACKs since the server started. */
export async function nacks(server: XdsServer): Promise<number> {
  return server.metric("xds_server_nacks_total");
}

/** The state and the problems of the directory, from the admin API. */
export async function sourceState(server: XdsServer): Promise<{ readonly state: string; readonly text: string }> {
  const answer = (await server.admin("/api/v1/source")) as { readonly state: string };
  return { state: answer.state, text: JSON.stringify(answer) };
}

/** The NACKs of a node, by message name, with their reasons. */
export async function refusals(server: XdsServer, node: string): Promise<Readonly<Record<string, string>>> {
  const refused = (await deliveries(server)).filter((row) => row.node === node && row.state === "nacked");
  return Object.fromEntries(refused.map(({ type, reason = "" }) => [type.slice(type.lastIndexOf("/") + 1), reason]));
}
