import { type Dialect, forKind } from "../../dialect/dialect.ts";
import type { Segment } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import { nameOfTerm } from "../../resource/resource-name.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { isLocatedWildcard } from "../../resource/variant-name.ts";

/** What is to be said of single names in one answer of delta. */
export class DeltaResponseBuilder {
  readonly puts: Map<string, Resource> = new Map();
  readonly removed: Set<string> = new Set();
  readonly missing: Set<string> = new Set();
  /** Of `removed`, what was asked for: that it is absent is the answer. */
  readonly asked: Set<string> = new Set();
  readonly #saysMissing: "removed" | "empty-resource" | "none";

  constructor({ deltaMissing }: Dialect, { kind }: TypeTraits) {
    this.#saysMissing = forKind(deltaMissing, kind);
  }

  put(resource: Resource): void {
    this.puts.set(resource.name, resource);
  }

  /** A term was asked for and stands for nothing: said as the client takes it. */
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

  /** A name is absent, and that is the answer. */
  removeAsAsked(name: string): void {
    this.removed.add(name);
    this.asked.add(name);
  }

  /** These, and these terms, each once, that were asked for and stand for nothing. */
  segmentOf(puts: readonly Resource[], missing: readonly string[]): Segment {
    const says = this.#saysMissing;
    const names: string[] = [];
    if (says !== "none") for (const term of missing) if (!isLocatedWildcard(term)) names.push(nameOfTerm(term));
    return says === "removed" ? { puts, removed: names, missing: [] } : { puts, removed: [], missing: names };
  }

  /** All of it, each name once (B-RES-10); `puts`: as they are sent. */
  segment(puts: readonly Resource[]): Segment {
    const removed = [...this.removed].filter((name) => !this.missing.has(name));
    return { puts, removed, missing: [...this.missing] };
  }
}
