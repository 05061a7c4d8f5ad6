import type { NodeResourceAnswer } from "@xdskit/server";
import { type DumpedResource, endpointsIn, isObject, readConfigDump, shownTypes } from "@xdskit/server/envoy-dump";

/** What Envoy shows of a resource that the server says it has, or has of none. */
export interface DumpDifference {
  /** `differs`: it has other content. `missing`: it does not show it. `extra`: the server knows nothing of it. */
  readonly verdict: "differs" | "missing" | "extra";
  readonly shortName: string;
  readonly name: string;
  /** The first fields that differ. */
  readonly fields?: readonly string[];
}

export interface DumpComparison {
  readonly same: number;
  readonly differences: readonly DumpDifference[];
}

const MOST_FIELDS = 3;
/** Neither the server nor Envoy shows the content of one. */
const SECRET = "sds";

/**
 * Compares the answer of Envoy's `/config_dump?include_eds` with what the server says that the node has. Undefined: it is
 * no such answer.
 */
export function compareDump(dump: unknown, known: readonly NodeResourceAnswer[]): DumpComparison | undefined {
  const dumped = readConfigDump(dump);
  if (dumped === undefined) return undefined;
  const held = new Map<string, DumpedResource>();
  for (const one of dumped) if (one.shortName !== SECRET) held.set(keyOf(one.shortName, one.name), one);
  const differences: DumpDifference[] = [];
  let same = 0;
  for (const { shortName = "", name, status, version, body } of known) {
    if (!shownTypes.has(shortName) || shortName === SECRET || version === undefined) continue;
    const key = keyOf(shortName, name);
    const found = held.get(key);
    held.delete(key);
    if (found === undefined) {
      if (status === "acked") differences.push({ verdict: "missing", shortName, name });
      continue;
    }
    // State of the World versions are of whole responses, so the content decides.
    const fields = found.version === version ? [] : differingFields(shortName, body, found.value);
    if (fields.length === 0) same++;
    else differences.push({ verdict: "differs", shortName, name, fields: fields.slice(0, MOST_FIELDS) });
  }
  for (const { shortName, name } of held.values()) differences.push({ verdict: "extra", shortName, name });
  return { same, differences };
}

function differingFields(shortName: string, atServer: unknown, inEnvoy: unknown): readonly string[] {
  if (shortName !== "eds") return [...pathsBetween(atServer, inEnvoy, "")];
  return endpointsIn(atServer).join() === endpointsIn(inEnvoy).join() ? [] : ["endpoints"];
}

/** The paths of the values that are not the same. */
function* pathsBetween(a: unknown, b: unknown, path: string): Generator<string> {
  if (isObject(a) && isObject(b)) {
    for (const member of new Set([...Object.keys(a), ...Object.keys(b)]))
      if (member !== "@type") yield* pathsBetween(a[member], b[member], path === "" ? member : `${path}.${member}`);
  } else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    for (const [index, one] of a.entries()) yield* pathsBetween(one, b[index], `${path}[${index}]`);
  } else if (JSON.stringify(a) !== JSON.stringify(b)) yield path;
}

function keyOf(shortName: string, name: string): string {
  return JSON.stringify([shortName, name]);
}
