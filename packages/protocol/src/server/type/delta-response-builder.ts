import { type Dialect, forKind } from "../../dialect/dialect.ts";
import type { Segment } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import { nameOfTerm } from "../../resource/resource-name.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { isLocatedWildcard } from "../../resource/variant-name.ts";

/** Collects resources, removals and missing names for one delta answer. */
export class DeltaResponseBuilder {
  readonly puts: Map<string, Resource> = new Map();
  readonly removed: Set<string> = new Set();
  readonly missing: Set<string> = new Set();
  /** Names that the client requested and whose absence is the answer: as removed, or by a placeholder. */
  readonly asked: Set<string> = new Set();
  readonly #saysMissing: "removed" | "empty-resource" | "none";

  constructor({ deltaMissing }: Dialect, { kind }: TypeTraits) {
    this.#saysMissing = forKind(deltaMissing, kind);
  }

  put(resource: Resource): void {
    this.puts.set(resource.name, resource);
  }

  /** Adds a requested term without a resource, in the form that the client expects. */
  miss(missing: string): void {
    if (isLocatedWildcard(missing)) return;
    const term = nameOfTerm(missing);
    switch (this.#saysMissing) {
      case "removed":
        this.removeAsAsked(term);
        break;
      case "empty-resource":
        this.missing.add(term);
        break;
      case "none":
        break;
      default:
        this.#saysMissing satisfies never;
    }
  }

  /** Adds the placeholder of a requested term without a resource. */
  putInPlaceOf(term: string, placeholder: Resource): void {
    this.puts.set(term, placeholder);
    this.asked.add(placeholder.name);
  }

  /** Adds a name whose absence is the answer to a request. */
  removeAsAsked(name: string): void {
    this.removed.add(name);
    this.asked.add(name);
  }

  /** A segment of these resources and these distinct terms without a resource. */
  segmentOf(puts: readonly Resource[], missing: readonly string[]): Segment {
    const says = this.#saysMissing;
    const names: string[] = [];
    if (says !== "none") for (const term of missing) if (!isLocatedWildcard(term)) names.push(nameOfTerm(term));
    return says === "removed" ? { puts, removed: names, missing: [] } : { puts, removed: [], missing: names };
  }

  /**
   * A segment of all that was collected, each name once (B-RES-10). `puts`: the resources in the form in which they are
   * sent.
   */
  segment(puts: readonly Resource[]): Segment {
    const removed = [...this.removed].filter((name) => !this.missing.has(name));
    return { puts, removed, missing: [...this.missing] };
  }
}
