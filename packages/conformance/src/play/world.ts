import type { Constraints } from "@xdskit/protocol";
import type { TypeName } from "../content/catalog.ts";
import type { Content } from "../content/content.ts";
import type { Change, Commit } from "./driver.ts";

interface LayerContents {
  readonly contents: Map<string, Content>;
  readonly typeVersions: Map<TypeName, string>;
  readonly canaries: Map<TypeName, boolean>;
}

/** Everything committed to a server so far, to restore it on a fresh one. */
export class World {
  readonly #layers = new Map<string, LayerContents>();
  #systemVersion: string | undefined;

  take({ changes, systemVersion }: Commit): void {
    for (const change of changes) this.#takeChange(change);
    this.#systemVersion = systemVersion ?? this.#systemVersion;
  }

  /** One commit that gives an empty server the same state. */
  whole(): Commit {
    const changes = [...this.#layers].map(([layer, { contents, typeVersions, canaries }]) => ({
      layer,
      puts: [...contents.values()],
      deletes: [],
      typeVersions,
      canaries,
    }));
    return { changes, systemVersion: this.#systemVersion };
  }

  /** Everything that a node with these layers, top-most first, sees of every type. */
  view(layers: readonly string[]): readonly Content[] {
    const seen = new Map<string, Content>();
    for (const layer of [...layers].reverse()) {
      for (const [key, content] of this.#layers.get(layer)?.contents ?? []) seen.set(key, content);
    }
    return [...seen.values()];
  }

  /** The type versions to print, each from the top-most layer that sets it. */
  typeVersions(layers: readonly string[]): ReadonlyMap<TypeName, string> {
    const versions = new Map<TypeName, string>();
    for (const layer of [...layers].reverse()) {
      for (const [type, version] of this.#layers.get(layer)?.typeVersions ?? []) versions.set(type, version);
    }
    return versions;
  }

  #takeChange(change: Change): void {
    let layer = this.#layers.get(change.layer);
    if (layer === undefined) {
      layer = { contents: new Map(), typeVersions: new Map(), canaries: new Map() };
      this.#layers.set(change.layer, layer);
    }
    for (const { type, name, constraints } of change.deletes) layer.contents.delete(keyOf(type, name, constraints));
    for (const content of change.puts) layer.contents.set(keyOf(content.type, content.name, content.when), content);
    for (const [type, version] of change.typeVersions) layer.typeVersions.set(type, version);
    for (const [type, isCanary] of change.canaries) layer.canaries.set(type, isCanary);
  }
}

function keyOf(type: TypeName, name: string, constraints: Constraints | undefined): string {
  return JSON.stringify([type, name, constraints]);
}
