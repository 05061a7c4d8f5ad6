import type { Constraints } from "@xdskit/protocol";
import type { TypeName } from "../content/catalog.ts";
import type { Content } from "../content/content.ts";
import type { Change, Commit } from "./driver.ts";

interface LayerContents {
  readonly contents: Map<string, Content>;
  readonly typeVersions: Map<TypeName, string>;
  readonly canaries: Map<TypeName, boolean>;
}

/** What a server was told so far, so that a fresh one can be told the same. */
export class World {
  readonly #layers = new Map<string, LayerContents>();
  #systemVersion: string | undefined;

  take({ changes, systemVersion }: Commit): void {
    for (const change of changes) this.#takeChange(change);
    this.#systemVersion = systemVersion ?? this.#systemVersion;
  }

  /** One commit that makes an empty server equal. */
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

  /** What a node that sees these layers, top-most first, has of every type. */
  view(layers: readonly string[]): readonly Content[] {
    const seen = new Map<string, Content>();
    for (const layer of [...layers].reverse()) {
      for (const [key, content] of this.#layers.get(layer)?.contents ?? []) seen.set(key, content);
    }
    return [...seen.values()];
  }

  /** The versions that are printed for types, by the top-most layer that says so. */
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
