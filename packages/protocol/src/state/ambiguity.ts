import { constrainedKeys, describeConstraints } from "../resource/constraints.ts";
import { overlapOf } from "../resource/disjointness.ts";
import type { Resource } from "../resource/resource.ts";
import { messageNameOf, type TypeUrl } from "../resource/type-url.ts";
import { plainName } from "../resource/variant-name.ts";
import { deletedKey, type Layer } from "./layer.ts";
import { ITEMS_A_STEP, type Steps } from "./steps.ts";
import type { Transaction } from "./transaction.ts";

/** Two resources of one name that the same client could match. */
export interface Ambiguity {
  readonly first: Resource;
  readonly second: Resource;
  /** Such as `expected disjoint constraints, got …`. */
  readonly message: string;
}

/**
 * Finds two resources of one name and layer that conflict. Of several resources each needs constraints, all on the same
 * parameters, and no two may match the same client (S-LOC-08). Undefined if there is no conflict.
 */
export function findAmbiguity(resources: readonly Resource[]): Ambiguity | undefined {
  for (const [index, second] of resources.entries()) {
    for (const first of resources.slice(0, index)) {
      const message = ambiguityBetween(first, second);
      if (message !== undefined) return { first, second, message };
    }
  }
  return undefined;
}

function ambiguityBetween({ variant: a }: Resource, { variant: b }: Resource): string | undefined {
  if (a === undefined || b === undefined)
    return "expected constraints on every resource of a name that several have, got one without: it is for everybody";
  const [keys, others] = [constrainedKeys(a.constraints), constrainedKeys(b.constraints)];
  if (keys.join("\0") !== others.join("\0"))
    return `expected constraints on the same parameters, got ${listed(keys)} and ${listed(others)}`;
  const overlap = overlapOf(a.constraints, b.constraints);
  if (overlap === "disjoint") return undefined;
  const both = `${describeConstraints(a.constraints)}; ${describeConstraints(b.constraints)}`;
  return overlap === "overlapping"
    ? `expected constraints of which no client meets two, got ${both}`
    : `expected constraints that can be told apart, got ones too complicated for that: ${both}`;
}

function listed(keys: readonly string[]): string {
  return keys.length === 0 ? "none" : keys.map((key) => JSON.stringify(key)).join(", ");
}

/** Returns a message for each conflict that a transaction would create, among names that have or get variants. */
export function* ambiguitiesIn(
  { changes }: Transaction,
  layerNamed: (name: string) => Layer | undefined,
): Steps<readonly string[]> {
  let taken = 0;
  const names = new Map<string, Map<string, Resource>>();
  const heldUnder = (layer: string, type: TypeUrl, name: string): Map<string, Resource> => {
    const key = JSON.stringify([layer, type, name]);
    const known = names.get(key) ?? heldBy(layerNamed(layer), type, name);
    names.set(key, known);
    return known;
  };
  const varied = new Set<string>();
  for (const { puts = [] } of changes) {
    for (const { variant, type } of puts) {
      if (variant !== undefined) varied.add(`${type} ${variant.name}`);
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
  }
  for (const { layer, puts = [], deletes = [] } of changes) {
    const mayVary = (type: TypeUrl, name: string): boolean =>
      (varied.size > 0 && varied.has(`${type} ${name}`)) ||
      (layerNamed(layer)?.table(type)?.variants?.of(name).size ?? 0) > 0;
    for (const put of puts) {
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
      const name = put.variant?.name ?? put.name;
      if (mayVary(put.type, name)) heldUnder(layer, put.type, name).set(put.name, put);
    }
    for (const deletion of deletes) {
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
      const key = deletedKey(deletion);
      const name = plainName(key);
      if (mayVary(deletion.type, name)) heldUnder(layer, deletion.type, name).delete(key);
    }
  }
  return [...names].flatMap(([key, held]) => {
    const found = findAmbiguity([...held.values()]);
    if (found === undefined) return [];
    const [layer, type, name] = JSON.parse(key) as [string, TypeUrl, string];
    return [`${messageNameOf(type)} ${JSON.stringify(name)} in layer ${layer}: ${found.message}`];
  });
}

function heldBy(layer: Layer | undefined, type: TypeUrl, name: string): Map<string, Resource> {
  const table = layer?.table(type);
  const plain = table?.resources.get(name);
  const held = new Map(table?.variants?.of(name) ?? []);
  if (plain !== undefined && plain.isStandIn !== true) held.set(name, plain);
  return held;
}
