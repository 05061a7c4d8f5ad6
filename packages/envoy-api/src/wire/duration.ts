/** `google.protobuf.Duration`, in milliseconds. */
import { varintTag, type WireReader } from "./reader.ts";
import type { WireWriter } from "./writer.ts";

const NANOS_PER_MS = 1_000_000;

/** Reads a duration to the end of the reader. */
export function readDuration(reader: WireReader): number {
  let seconds = 0;
  let nanos = 0;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === varintTag(1)) seconds = reader.int64();
    else if (tag === varintTag(2)) nanos = reader.int32();
    else reader.skip(tag);
  }
  return seconds * 1000 + nanos / NANOS_PER_MS;
}

/** Writes what `readDuration` reads. */
export function writeDuration(writer: WireWriter, ms: number): void {
  const nanos = Math.round((ms % 1000) * NANOS_PER_MS);
  const isWholeSecond = Math.abs(nanos) === 1000 * NANOS_PER_MS;
  const seconds = isWholeSecond ? Math.round(ms / 1000) : Math.trunc(ms / 1000);
  writer.integer(1, seconds).integer(2, isWholeSecond ? 0 : nanos);
}
