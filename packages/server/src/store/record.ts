import { crc32 } from "node:zlib";
import { parseTypeUrl, type Resource } from "@xdskit/protocol";
import type { Digest, Remembered } from "@xdskit/protocol/internal";
import { type ResourceRecord, recordOf, resourceOf } from "./resource-record.ts";

/** First line of every file; any other one means another format version. */
export const HEADER = "xdskit clusters 1";

/** Ends the snapshot at the start of a file. */
const SNAPSHOT_END = "snapshot-end";

type RecordLine =
  | {
      readonly kind: "changed";
      readonly revision: number;
      readonly type: string;
      readonly layer: string;
      readonly puts: readonly ResourceRecord[];
      readonly deletes: readonly string[];
    }
  | {
      readonly kind: "served";
      readonly revision: number;
      readonly type: string;
      readonly layers: readonly string[];
      readonly version: string;
      readonly heldOver: readonly ResourceRecord[];
    }
  | { readonly kind: "clusters-elsewhere"; readonly node: string; readonly isElsewhere: boolean };

/** The content of a file. */
export interface JournalContent {
  /** The state when the file was started. */
  readonly snapshot: readonly Remembered[];
  /** Whether the snapshot is complete; false for a file started after a damaged one. */
  readonly isWhole: boolean;
  /** Records since the snapshot. */
  readonly since: readonly Remembered[];
  /** Byte offset of the end of the last valid line. */
  readonly goodBytes: number;
  /**
   * Number of the damaged line, from 1; undefined if none. An incomplete last line was being written and does not
   * count.
   */
  readonly damagedLine: number | undefined;
}

/** Formats a line: a checksum of the rest, and JSON. */
export function formatRecord(what: Remembered): string {
  return formatLine(JSON.stringify(recordLineOf(what)));
}

function recordLineOf(what: Remembered): RecordLine {
  if (what.kind === "clusters-elsewhere") return what;
  if (what.kind === "changed") return { ...what, puts: what.puts.map(recordOf) };
  const { pendingRemovals, ...rest } = what;
  return { ...rest, heldOver: pendingRemovals.map(recordOf) };
}

/** Formats the line that ends the snapshot. */
export function formatSnapshotEnd(): string {
  return formatLine(JSON.stringify(SNAPSHOT_END));
}

function formatLine(json: string): string {
  return `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
}

/** Parses a file up to its end or its first invalid line. Undefined: another format version. */
export function parseFile(bytes: Buffer, digest: Digest): JournalContent | undefined {
  const headerEnd = bytes.indexOf(0x0a);
  if (headerEnd < 0 || bytes.toString("utf8", 0, headerEnd) !== HEADER) return undefined;
  let records: Remembered[] = [];
  let snapshot: readonly Remembered[] | undefined;
  const content = (goodBytes: number, damagedLine?: number): JournalContent => ({
    snapshot: snapshot ?? [],
    isWhole: snapshot !== undefined,
    since: records,
    goodBytes,
    damagedLine,
  });
  let line = 1;
  let from = headerEnd + 1;
  for (let to = bytes.indexOf(0x0a, from); to >= 0; to = bytes.indexOf(0x0a, from)) {
    line++;
    const parsed = parseLine(bytes.toString("utf8", from, to), digest);
    if (parsed === undefined) return content(from, line);
    if (parsed === SNAPSHOT_END) {
      snapshot = records;
      records = [];
    } else records.push(parsed);
    from = to + 1;
  }
  return content(from);
}

function parseLine(text: string, digest: Digest): Remembered | typeof SNAPSHOT_END | undefined {
  const json = text.slice(9);
  if (Number.parseInt(text.slice(0, 8), 16) !== crc32(json)) return undefined;
  try {
    const record = JSON.parse(json) as RecordLine | typeof SNAPSHOT_END;
    if (record === SNAPSHOT_END) return SNAPSHOT_END;
    if (record.kind === "clusters-elsewhere") return record;
    const type = parseTypeUrl(record.type);
    if (type === undefined) return undefined;
    const restore = (one: ResourceRecord): Resource => resourceOf(type, one, digest);
    if (record.kind === "changed") return { ...record, type, puts: record.puts.map(restore) };
    const { heldOver, ...rest } = record;
    return { ...rest, type, pendingRemovals: heldOver.map(restore) };
  } catch {
    // The checksum is valid but the content is not: another program wrote it.
    return undefined;
  }
}
