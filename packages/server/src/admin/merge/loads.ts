import type { LoadAnswer, LocalityLoadAnswer } from "../answers/loads.ts";
import { byKey, type Merge } from "./merge.ts";

/** Clients of several processes report load of the same cluster. */
export const mergeLoads: Merge = byKey<LoadAnswer>(
  ({ cluster, service = "" }) => `${cluster}\u0000${service}`,
  joinLoads,
);

function joinLoads(one: LoadAnswer, other: LoadAnswer): LoadAnswer {
  const localities = new Map<string, LocalityLoadAnswer>();
  for (const locality of [...one.localities, ...other.localities]) {
    const { region, zone, subZone, priority } = locality;
    const key = JSON.stringify([region, zone, subZone, priority]);
    const known = localities.get(key);
    localities.set(key, known === undefined ? locality : { ...added(known, locality), priority });
  }
  return {
    ...added({ ...one, localities: [] }, { ...other, localities: [] }),
    lastReportAt: [one.lastReportAt, other.lastReportAt].sort().at(-1) ?? "",
    localities: [...localities.values()],
  };
}

/** Adds the numbers of two values of the same shape, at any depth. */
function added<T extends object>(one: T, other: T): T {
  const sum: Record<string, unknown> = Object.fromEntries(Object.entries(one));
  for (const [key, value] of Object.entries(other)) {
    const known = sum[key];
    if (typeof value === "number" && typeof known === "number") sum[key] = known + value;
    else if (isPlain(value) && isPlain(known)) sum[key] = added(known, value);
    else if (known === undefined) sum[key] = value;
  }
  return sum as T;
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
