import type { TypeUrl } from "../resource/type-url.ts";
import { type Position, reaches } from "../state/difference.ts";
import type { LayerSet } from "../state/layer-set.ts";
import type { StreamId } from "./event.ts";
import type { Stream } from "./stream.ts";

/**
 * Forgets the changes that nobody needs to be told of any more. Returns streams that stand so far behind that what they
 * would need had to be forgotten.
 */
export function trimJournals<W extends object>(
  layers: LayerSet<W>,
  streams: ReadonlyMap<StreamId, Stream>,
  revision: number,
): ReadonlySet<Stream> {
  const positions = (type: TypeUrl): readonly (readonly [Stream, Position])[] =>
    [...streams.values()].flatMap((stream) => {
      stream.catchUp(revision);
      const position = stream.types.get(type)?.position;
      return position === undefined ? [] : [[stream, position] as const];
    });
  const trimmed = layers.trim((type, layer) => {
    let oldest = revision;
    for (const [, position] of positions(type)) {
      if (position.view.layers.includes(layer)) oldest = Math.min(oldest, position.revision);
    }
    return oldest;
  });
  const laggards = new Set<Stream>();
  for (const type of trimmed) {
    for (const [stream, position] of positions(type)) if (!reaches(position, type)) laggards.add(stream);
  }
  return laggards;
}
