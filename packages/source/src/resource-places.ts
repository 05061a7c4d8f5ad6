import type { TypeUrl } from "@xdskit/protocol";
import { originOf } from "./assemble.ts";
import type { FileChunk } from "./file-chunks.ts";
import type { LayerFile, Origin } from "./file-content.ts";

/** A resource of which the place is asked for. */
export interface AskedResource {
  /** The layers of a node, top-most first: the first that has the name counts. */
  readonly layers: readonly string[];
  readonly type: TypeUrl;
  readonly name: string;
}

/** Where a resource is in the source. */
export interface ResourcePlace {
  /** The path in the directory. */
  readonly file: string;
  /** From 1; undefined for formats without lines, and if the file changed since it was read. */
  readonly line?: number;
}

/** The origins of resources in files; undefined: no file has them. Looks at every file of these layers. */
export function findOrigins(asked: readonly AskedResource[], chunks: readonly FileChunk[]): (Origin | undefined)[] {
  const byLayer = new Map<string, LayerFile[]>();
  const wanted = new Set(asked.flatMap(({ layers }) => layers));
  for (const file of chunks.flatMap(({ files }) => files)) {
    if (!wanted.has(file.layer)) continue;
    const together = byLayer.get(file.layer) ?? [];
    byLayer.set(file.layer, together);
    together.push(file);
  }
  return asked.map(({ layers, type, name }) => {
    for (const layer of layers)
      for (const file of byLayer.get(layer) ?? []) {
        const found = file.content.resources.find(
          ({ resource }) => resource.type === type && (resource.name === name || resource.variant?.name === name),
        );
        if (found !== undefined) return originOf(file, found);
      }
    return undefined;
  });
}
