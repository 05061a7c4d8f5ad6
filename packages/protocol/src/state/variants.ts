import { matches, noParameters, type Parameters } from "../resource/constraints.ts";
import type { Resource } from "../resource/resource.ts";
import { noneFits } from "../resource/resource-error.ts";
import { addSums } from "../resource/version.ts";

const none: ReadonlyMap<string, Resource> = new Map();

/** The variants of one table by the names that they share. */
export class Variants {
  readonly #byName = new Map<string, Map<string, Resource>>();
  readonly #touched = new Set<string>();

  /** The variants of a name by their keys. */
  of(name: string): ReadonlyMap<string, Resource> {
    return this.#byName.get(name) ?? none;
  }

  /** The variant that fits parameters; of a name whose variants are disjoint there is one at most. */
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

  /** Names of which something changed since this was last asked. */
  takeTouched(): readonly string[] {
    if (this.#touched.size === 0) return [];
    const touched = [...this.#touched];
    this.#touched.clear();
    return touched;
  }

  /**
   * What stands under a name that has variants: a copy of the one that fits clients without parameters, or that there is none.
   * What it adds to the version of the type is what all of them add. Undefined: the name has no variants.
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

/** Hides what layers below have under the name, as an error does. */
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
