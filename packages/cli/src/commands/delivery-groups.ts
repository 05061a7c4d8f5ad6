import type { DeliveryAnswer } from "@xdskit/server";

/** The values of `--group-by`. */
export const deliveryGroupings = ["version", "user-agent"] as const;
export type DeliveryGrouping = (typeof deliveryGroupings)[number];

/** The deliveries of one type that share a version or a user agent. */
export interface DeliveryGroup {
  readonly type: string;
  /** "" if there is none. */
  readonly value: string;
  readonly deliveries: number;
  /** The number of deliveries in each state. */
  readonly states: Readonly<Partial<Record<DeliveryAnswer["state"], number>>>;
}

/** Counts deliveries by version or user agent; within a type, the largest group comes first. */
export function groupDeliveries(rows: readonly DeliveryAnswer[], by: DeliveryGrouping): readonly DeliveryGroup[] {
  const groups = new Map<
    string,
    { type: string; value: string; deliveries: number; states: DeliveryGroup["states"] }
  >();
  for (const { type, shortName = type, version = "", userAgent, state } of rows) {
    const value = by === "version" ? version : userAgent;
    const key = JSON.stringify([shortName, value]);
    const group = groups.get(key) ?? { type: shortName, value, deliveries: 0, states: {} };
    group.deliveries++;
    group.states = { ...group.states, [state]: (group.states[state] ?? 0) + 1 };
    groups.set(key, group);
  }
  return [...groups.values()].sort(
    (a, b) => compare(a.type, b.type) || b.deliveries - a.deliveries || compare(a.value, b.value),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
