import type { Resource, TypeUrl } from "@xdskit/protocol";
import { Layer } from "../../src/state/layer.ts";
import { View } from "../../src/state/view.ts";
import { CLUSTER, resource } from "./resources.ts";

/** One layer written at one revision after the other. */
export class WrittenLayer extends Layer {
  /** `keepsBodies`: whether the journal keeps whole resources. */
  constructor(name: string, puts: readonly Resource[] = [], revision = 1, keepsBodies: boolean = false) {
    super(name, { keepsBodies: () => keepsBodies });
    this.put(revision, ...puts);
  }

  put(revision: number, ...puts: readonly Resource[]): void {
    for (const one of puts) this.tableFor(one.type).put(one, revision);
  }

  delete(revision: number, ...names: readonly string[]): void {
    for (const name of names) this.tableFor(CLUSTER).delete(name, revision);
  }
}

/** A view of these, top-most first. */
export function viewOf(...layers: readonly Layer[]): View {
  return new View(layers.map((layer) => layer.name).join(), layers);
}

/** A Cluster with that label. */
export function cluster(name: string, label: string, onDemand = false): Resource {
  return resource(CLUSTER, name, label, { onDemand });
}

/** `a@1`. */
export function shown(one: Resource | undefined): string {
  return one === undefined ? "nothing" : new TextDecoder().decode(one.bytes).replace("=", "@");
}

export function namesOf(view: View, type: TypeUrl = CLUSTER): readonly string[] {
  return [...view.members(type)].map(shown).sort();
}
