/**
 * Copies encoded messages from one API version to the other. Parts that do not change are neither decoded nor copied:
 * they stay views of the original, and an original in which nothing changes is returned as it is.
 */
import type { ApiVersion } from "@xdskit/protocol";
import { lengthTag, varintTag, WireReader } from "../wire/reader.ts";
import { WireError } from "../wire/wire-error.ts";
import { varintLength, writeVarint } from "../wire/writer.ts";
import type { ConversionFieldPlan, ConversionPlan, Moved } from "./plan.ts";

/** No real message is nested deeper. */
const DEEPEST = 100;
const V3 = 2;
const LENGTH_DELIMITED = 2;
const VARINT = 0;
const ENTRY_KEY = lengthTag(1);
const ENTRY_VALUE = lengthTag(2);

/** Callbacks of the copier to its owner. */
export interface CopierPorts {
  /** Converts the bytes of an `Any`; returns the same object if they do not change. */
  convertAny(bytes: Uint8Array): Uint8Array;
  /** Reports a finding at the current path. */
  report(message: string): void;
  /** The current path in proto names; the owner may extend it while it converts an `Any`. */
  readonly path: (string | number)[];
}

/** Applies the plans of one direction. */
export class Copier {
  readonly #ports: CopierPorts;
  readonly #to: ApiVersion;
  #depth = 0;

  constructor(to: ApiVersion, ports: CopierPorts) {
    this.#to = to;
    this.#ports = ports;
  }

  /**
   * Converts a message; returns the same object if nothing in it changes.
   *
   * @throws {WireError} if the bytes are not a message
   */
  copy(bytes: Uint8Array, plan: ConversionPlan): Uint8Array {
    if (plan.isPlain) return bytes;
    const depth = this.#depth;
    if (depth >= DEEPEST) throw new WireError(`messages nested deeper than ${DEEPEST}`);
    const length = this.#ports.path.length;
    this.#depth++;
    try {
      return this.#copyMessage(bytes, plan);
    } finally {
      this.#depth = depth;
      this.#ports.path.length = length;
    }
  }

  #copyMessage(bytes: Uint8Array, plan: ConversionPlan): Uint8Array {
    const reader = new WireReader(bytes);
    const pieces = new Pieces(bytes);
    let counts: Map<number, number> | undefined;
    let moving: Map<Moved, Uint8Array[]> | undefined;
    const demanded = plan.demanded.length === 0 ? undefined : new Set(plan.demanded);
    while (reader.hasMore) {
      const start = reader.position;
      const tag = reader.tag();
      const number = tag >>> 3;
      const field = plan.fields.get(number);
      if (demanded !== undefined) for (const one of demanded) if (one.number === number) demanded.delete(one);
      if (field === undefined) reader.skip(tag);
      else if (field.isVersion && (tag & 7) === VARINT) this.#dropVersion(reader, start, pieces);
      else if (field.moved !== undefined && (tag & 7) === LENGTH_DELIMITED) {
        moving ??= new Map();
        const contents = moving.get(field.moved) ?? [];
        moving.set(field.moved, contents);
        contents.push(this.#copyMoved(reader, start, field, pieces));
      } else {
        if (field.isList) counts ??= new Map();
        this.#copyField(reader, { tag, start, field, index: counts && indexOf(field, number, counts) }, pieces);
      }
    }
    if (plan.versionField !== undefined && this.#to === "v3") {
      pieces.append(Buffer.from([varintTag(plan.versionField), V3]));
    }
    for (const [moved, contents] of moving ?? []) writeMoved(moved, contents, bytes, pieces);
    for (const { name } of demanded ?? []) {
      this.#ports.path.push(name);
      this.#ports.report(`${this.#to} demands "${name}" in ${plan.target}, got none`);
      this.#ports.path.pop();
    }
    return pieces.finish();
  }

  /** Removes a field that moves elsewhere in the other version, and returns its converted content. */
  #copyMoved(reader: WireReader, start: number, field: ConversionFieldPlan, pieces: Pieces): Uint8Array {
    const { path } = this.#ports;
    const { length } = path;
    path.push(field.name);
    const content = this.#copyValue(reader.bytes(), field);
    path.length = length;
    pieces.replace(start, reader.position, []);
    return content;
  }

  /** Drops the API version: v2 does not mention v3, and for v3 it is written again. */
  #dropVersion(reader: WireReader, start: number, pieces: Pieces): void {
    reader.skip(VARINT);
    pieces.replace(start, reader.position, []);
  }

  #copyField(reader: WireReader, { tag, start, field, index }: Occurrence, pieces: Pieces): void {
    const { path } = this.#ports;
    const { length } = path;
    path.push(field.name);
    if (field.finding !== undefined) this.#ports.report(field.finding);
    if (index !== undefined) path.push(index);
    if (field.known !== undefined) this.#checkEnum(reader, tag, field.known);
    else if ((tag & 7) !== LENGTH_DELIMITED || !isEntered(field)) reader.skip(tag);
    else {
      const value = reader.bytes();
      const converted = field.isMap ? this.#copyEntry(value, field) : this.#copyValue(value, field);
      if (converted !== value) pieces.replace(start, reader.position, [headOf(tag, converted.length), converted]);
    }
    path.length = length;
  }

  #copyValue(value: Uint8Array, { isAny, message }: ConversionFieldPlan): Uint8Array {
    if (isAny) return this.#ports.convertAny(value);
    return message === undefined ? value : this.copy(value, message);
  }

  /** Converts a map entry: the key, which goes into the path, then the value. */
  #copyEntry(entry: Uint8Array, field: ConversionFieldPlan): Uint8Array {
    const reader = new WireReader(entry);
    const pieces = new Pieces(entry);
    let key = "";
    while (reader.hasMore) {
      const start = reader.position;
      const tag = reader.tag();
      if (tag === ENTRY_KEY) key = reader.string();
      else if (tag === ENTRY_VALUE) {
        const value = reader.bytes();
        const { path } = this.#ports;
        path.push(key);
        const converted = this.#copyValue(value, field);
        path.pop();
        if (converted !== value) pieces.replace(start, reader.position, [headOf(tag, converted.length), converted]);
      } else reader.skip(tag);
    }
    return pieces.finish();
  }

  #checkEnum(reader: WireReader, tag: number, known: ReadonlySet<number>): void {
    const values: number[] = [];
    if ((tag & 7) === VARINT) values.push(reader.int32());
    else if ((tag & 7) === LENGTH_DELIMITED) {
      for (const packed = reader.message(); packed.hasMore; ) values.push(packed.int32());
    } else reader.skip(tag);
    for (const value of values) {
      if (!known.has(value)) this.#ports.report(`${this.#to} does not have the value ${value}, which it is set to`);
    }
  }
}

/** Writes the new field, unless it is set already. */
function writeMoved(
  { to, write }: Moved,
  contents: readonly Uint8Array[],
  message: Uint8Array,
  pieces: { append(piece: Uint8Array): void },
): void {
  for (const reader = new WireReader(message); reader.hasMore; ) {
    const tag = reader.tag();
    if (tag >>> 3 === to) return;
    reader.skip(tag);
  }
  const content = write(contents, message);
  pieces.append(headOf(lengthTag(to), content.length));
  pieces.append(content);
}

/** An occurrence of a field. */
interface Occurrence {
  readonly tag: number;
  readonly start: number;
  readonly field: ConversionFieldPlan;
  /** Its index in a list. */
  readonly index: number | undefined;
}

function isEntered({ isAny, message }: ConversionFieldPlan): boolean {
  return isAny || message?.isPlain === false;
}

function indexOf({ isList }: ConversionFieldPlan, number: number, counts: Map<number, number>): number | undefined {
  if (!isList) return undefined;
  const index = counts.get(number) ?? 0;
  counts.set(number, index + 1);
  return index;
}

function headOf(tag: number, length: number): Uint8Array {
  const head = Buffer.allocUnsafe(varintLength(tag) + varintLength(length));
  writeVarint(head, writeVarint(head, 0, tag), length);
  return head;
}

/** The bytes of a message with some ranges replaced. */
class Pieces {
  readonly #original: Uint8Array;
  readonly #pieces: Uint8Array[] = [];
  #copied = 0;
  #length = 0;

  constructor(original: Uint8Array) {
    this.#original = original;
  }

  replace(start: number, end: number, by: readonly Uint8Array[]): void {
    this.#push(this.#original.subarray(this.#copied, start));
    for (const piece of by) this.#push(piece);
    this.#copied = end;
  }

  append(piece: Uint8Array): void {
    this.replace(this.#original.length, this.#original.length, [piece]);
  }

  /** Returns the result; the original itself if nothing was replaced. */
  finish(): Uint8Array {
    if (this.#pieces.length === 0 && this.#copied === 0) return this.#original;
    this.#push(this.#original.subarray(this.#copied));
    const whole = new Uint8Array(this.#length);
    let end = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, end);
      end += piece.length;
    }
    return whole;
  }

  #push(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }
}
