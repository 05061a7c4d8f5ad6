import type { TypeUrl } from "../../resource/type-url.ts";
import { type Position, reaches } from "../../state/difference.ts";
import type { LayerSet } from "../../state/layer-set.ts";
import type { StreamId } from "../contract/event.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { Stream } from "./stream.ts";

/**
 * Trims the journals to the changes that some stream still needs. Returns the streams that lag so far behind that
 * changes they need were dropped.
 */
export function trimJournals(
  layers: Pick<LayerSet<object>, "trim">,
  streams: ReadonlyMap<StreamId, Stream>,
  revision: number,
): ReadonlySet<Stream> {
  const cursors = function* (type: TypeUrl): Iterable<readonly [Stream, Position, TypeStream]> {
    for (const stream of streams.values()) {
      stream.catchUp(revision);
      const known = stream.types.get(type);
      const cursor = known?.needsChangesSince;
      if (known !== undefined && cursor !== undefined) yield [stream, cursor, known];
    }
  };
  const trimmed = layers.trim((type, table) => {
    let oldest = revision;
    for (const [, cursor] of cursors(type)) {
      if (cursor.view.layers.some((layer) => layer.table(type) === table)) oldest = Math.min(oldest, cursor.revision);
    }
    return oldest;
  });
  const laggards = new Set<Stream>();
  for (const type of trimmed) {
    // A comparison whose changes were dropped compares all names again.
    for (const [stream, cursor, { position }] of cursors(type)) {
      if (position !== undefined && !reaches(cursor, type)) laggards.add(stream);
    }
  }
  return laggards;
}

/** Whether a stream needs changes that were dropped. */
export function isLaggard(stream: Stream, revision: number): boolean {
  stream.catchUp(revision);
  return [...stream.types].some(([type, { needsChangesSince: cursor, position }]) => {
    return position !== undefined && cursor !== undefined && !reaches(cursor, type);
  });
}
