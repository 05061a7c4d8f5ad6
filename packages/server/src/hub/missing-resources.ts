import type { TypeUrl } from "@xdskit/protocol";

/** A resource in force whose content the ledger does not keep. */
export interface MissingContent {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly name: string;
}

/** How what is in force without its content changes. */
export interface MissingChange {
  readonly added: readonly MissingContent[];
  readonly removed: readonly MissingContent[];
}

/** Resources that exist although their content is not at hand. */
export class MissingResources {
  /** Their layers, by type and name. */
  readonly #byType = new Map<TypeUrl, Map<string, Set<string>>>();

  get isEmpty(): boolean {
    return this.#byType.size === 0;
  }

  change({ added, removed }: MissingChange): void {
    for (const { layer, type, name } of removed) {
      const byName = this.#byType.get(type);
      const layers = byName?.get(name);
      layers?.delete(layer);
      if (layers?.size === 0) byName?.delete(name);
      if (byName?.size === 0) this.#byType.delete(type);
    }
    for (const { layer, type, name } of added) {
      const byName = this.#byType.get(type) ?? new Map<string, Set<string>>();
      this.#byType.set(type, byName.set(name, (byName.get(name) ?? new Set()).add(layer)));
    }
  }

  /** The layers of those of a type, by name; undefined: there are none. */
  ofType(type: TypeUrl): ReadonlyMap<string, ReadonlySet<string>> | undefined {
    return this.#byType.get(type);
  }

  *[Symbol.iterator](): Iterator<MissingContent> {
    for (const [type, byName] of this.#byType)
      for (const [name, layers] of byName) for (const layer of layers) yield { layer, type, name };
  }
}
