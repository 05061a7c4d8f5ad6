import { matches, noParameters, type Parameters } from "../resource/constraints.ts";
import type { Resource } from "../resource/resource.ts";
import { noneFits } from "../resource/resource-error.ts";
import { addSums } from "../resource/version.ts";

const none: ReadonlyMap<string, Resource> = new Map();

/** The variants in one table, by shared name. */
export class Variants {
  readonly #byName = new Map<string, Map<string, Resource>>();
  readonly #touched = new Set<string>();

  /** Returns the variants of a name by key. */
  of(name: string): ReadonlyMap<string, Resource> {
    return this.#byName.get(name) ?? none;
  }

  /** Returns the variant that matches the parameters; disjoint variants have at most one. */
  fitting(name: string, parameters: Parameters): Resource | undefined {
    for (const resource of this.of(name).values()) {
      if (resource.variant !== undefined && matches(resource.variant.constraints, parameters)) return resource;
    }
    return undefined;
  }

  add(resource: Resource): void {
    const { variant } = resource;
    if (variant === undefined) return;
    const variants = this.#byName.get(variant.name) ?? new Map<string, Resource>();
    this.#byName.set(variant.name, variants.set(resource.name, resource));
    this.#touched.add(variant.name);
  }

  remove(resource: Resource): void {
    const { variant } = resource;
    if (variant === undefined) return;
    const variants = this.#byName.get(variant.name);
    variants?.delete(resource.name);
    if (variants?.size === 0) this.#byName.delete(variant.name);
    this.#touched.add(variant.name);
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
