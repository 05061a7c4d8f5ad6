import { casesOf, matches, noParameters, type Parameters, valuesOf } from "../resource/constraints.ts";
import type { Resource } from "../resource/resource.ts";
import { noneFits } from "../resource/resource-error.ts";
import { addSums } from "../resource/version.ts";

const none: ReadonlyMap<string, Resource> = new Map();
/** So few variants are looked at one by one. */
const FEW = 8;

/** The variants of a name by the values that they are for. */
interface ByValues {
  readonly groups: readonly { readonly keys: readonly string[]; readonly variants: ReadonlyMap<string, Resource> }[];
  /** Those that no values alone are for. */
  readonly others: readonly Resource[];
}

/** The variants in one table, by shared name. */
export class Variants {
  readonly #byName = new Map<string, Map<string, Resource>>();
  /** Of names with many variants; made when one is looked for, and dropped when any changes. */
  readonly #byValues = new Map<string, ByValues>();
  readonly #touched = new Set<string>();

  /** Returns the variants of a name by key. */
  of(name: string): ReadonlyMap<string, Resource> {
    return this.#byName.get(name) ?? none;
  }

  /** Returns the variant that matches the parameters; disjoint variants have at most one. */
  fitting(name: string, parameters: Parameters): Resource | undefined {
    const variants = this.of(name);
    if (variants.size <= FEW) return firstFitting(variants.values(), parameters);
    let byValues = this.#byValues.get(name);
    if (byValues === undefined) {
      byValues = groupedByValues(variants.values());
      this.#byValues.set(name, byValues);
    }
    for (const { keys, variants: same } of byValues.groups) {
      const found = same.get(valuesOf(keys, parameters));
      if (found !== undefined) return found;
    }
    return firstFitting(byValues.others, parameters);
  }

  add(resource: Resource): void {
    const { variant } = resource;
    if (variant === undefined) return;
    const variants = this.#byName.get(variant.name) ?? new Map<string, Resource>();
    this.#byName.set(variant.name, variants.set(resource.name, resource));
    this.#touched.add(variant.name);
    this.#byValues.delete(variant.name);
  }

  remove(resource: Resource): void {
    const { variant } = resource;
    if (variant === undefined) return;
    const variants = this.#byName.get(variant.name);
    variants?.delete(resource.name);
    if (variants?.size === 0) this.#byName.delete(variant.name);
    this.#touched.add(variant.name);
    this.#byValues.delete(variant.name);
  }

  /** Returns and clears the names whose variants changed since the last call. */
  takeTouched(): readonly string[] {
    if (this.#touched.size === 0) return [];
    const touched = [...this.#touched];
    this.#touched.clear();
    return touched;
  }

  /**
   * Returns the entry for the shared name: a copy of the variant that matches clients without parameters, or an error
   * if none does. Its sum is that of all variants. Undefined if the name has no variants.
   */
  standIn(name: string): Resource | undefined {
    const variants = this.of(name);
    const [some] = variants.values();
    if (some === undefined) return undefined;
    let sum = 0n;
    for (const variant of variants.values()) sum = addSums(sum, variant.sum);
    const fitting = this.fitting(name, noParameters);
    if (fitting?.variant === undefined) return absence(some, name, sum);
    const { variant, ...copied } = fitting;
    return { ...copied, name, onDemand: variant.onDemand, sum, isStandIn: true };
  }
}

function firstFitting(variants: Iterable<Resource>, parameters: Parameters): Resource | undefined {
  for (const resource of variants) {
    if (resource.variant !== undefined && matches(resource.variant.constraints, parameters)) return resource;
  }
  return undefined;
}

function groupedByValues(variants: Iterable<Resource>): ByValues {
  const groups = new Map<string, { keys: readonly string[]; variants: Map<string, Resource> }>();
  const others: Resource[] = [];
  for (const resource of variants) {
    const cases = resource.variant && casesOf(resource.variant.constraints);
    if (cases === undefined) others.push(resource);
    for (const values of cases ?? []) {
      const keys = [...values.keys()].sort();
      const id = JSON.stringify(keys);
      const group = groups.get(id) ?? { keys, variants: new Map<string, Resource>() };
      groups.set(id, group);
      group.variants.set(valuesOf(keys, values), resource);
    }
  }
  return { groups: [...groups.values()], others };
}

/** Hides lower layers' entries of the name, as an error does. */
function absence({ type }: Resource, name: string, sum: bigint): Resource {
  const nothing = { bytes: new Uint8Array(0), aliases: [], ttlMs: undefined, doNotCache: false, metadata: undefined };
  return {
    ...nothing,
    type,
    name,
    onDemand: true,
    references: [],
    version: "",
    sum,
    error: noneFits,
    isStandIn: true,
  };
}
