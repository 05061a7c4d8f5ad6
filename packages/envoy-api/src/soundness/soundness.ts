import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Schema } from "../descriptor/schema.ts";
import { ProblemList } from "../format/problem-list.ts";
import { isUtf8 } from "../platform.ts";
import type { LengthBounds } from "../validation/value-check.ts";
import { lengthTag, varintTag } from "../wire/reader.ts";
import { Cursor } from "./cursor.ts";
import { form, MessagePlans, type SoundnessFieldPlan, type SoundnessPlan } from "./message-plan.ts";

/** Deeper than any real message, but less deep than a decoder goes. */
const DEEPEST = 60;
const SHORT_TEXT = 40;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;
const SLOTS_OF_WORD = 32;
const TWO_TO_32 = 2n ** 32n;
const strict = new TextDecoder("utf-8", { fatal: true });

const inAny = { TYPE_URL: lengthTag(1), VALUE: lengthTag(2) } as const;
const inDuration = { SECONDS: varintTag(1), NANOS: varintTag(2) } as const;

/**
 * Checks encoded messages without creating objects. It calls a message sound only if the decoder can read it and the
 * validator finds nothing. It may fail to recognise a valid message, such as one in a form that no encoder writes, or
 * one with rules it does not know; the caller then decodes and validates it.
 */
export class Soundness {
  readonly #schema: Schema;
  readonly #plans: MessagePlans;
  #problems = new ProblemList();
  readonly #cursor = new Cursor();
  #nameTag = 0;
  #nameStart = 0;
  #nameEnd = 0;

  constructor(schema: Schema, hasRules: boolean) {
    this.#schema = schema;
    this.#plans = new MessagePlans(schema, hasRules);
  }

  /**
   * Returns the text of the field with that number ("" if there is none) if the message is sound; undefined if that is
   * not known.
   */
  nameIfSound(message: DescMessage, bytes: Uint8Array, nameNumber: number): string | undefined {
    this.#cursor.enter(bytes);
    this.#nameTag = lengthTag(nameNumber);
    this.#nameStart = 0;
    this.#nameEnd = 0;
    const isSound = this.#message(this.#plans.of(message), bytes.length, 0);
    const name = isSound ? this.#text(this.#nameStart, this.#nameEnd) : undefined;
    this.#cursor.leave();
    return name;
  }

  #message(plan: SoundnessPlan, end: number, depth: number): boolean {
    if (depth > DEEPEST) return false;
    if (plan.isAny) return this.#any(end, depth);
    const cursor = this.#cursor;
    let low = 0;
    let high = 0;
    while (cursor.at < end) {
      const tag = cursor.small(end);
      const field = plan.fields[tag >>> 3];
      if (field === undefined) {
        if (tag < 8 || plan.isClosed || !cursor.skip(tag, end)) return false;
        continue;
      }
      if (field.tag !== tag) return false;
      const bit = 1 << field.slot;
      const seen = field.slot < SLOTS_OF_WORD ? low : high;
      if ((seen & bit) !== 0 && !field.isFree) return false;
      if (field.slot < SLOTS_OF_WORD) low |= bit;
      else high |= bit;
      if (!this.#field(field, end, depth)) return false;
    }
    return (low & plan.requiredLow) === plan.requiredLow && (high & plan.requiredHigh) === plan.requiredHigh;
  }

  /** Checks consecutive values of one field. */
  #field(field: SoundnessFieldPlan, end: number, depth: number): boolean {
    const cursor = this.#cursor;
    if (field.form === form.PACKED) return this.#packed(field, end);
    if (field.isFree || field.count.most === 1) {
      if (depth === 0 && field.tag === this.#nameTag) return this.#name(field, end);
      return this.#value(field, end, depth);
    }
    let count = 0;
    for (;;) {
      count++;
      if (!this.#value(field, end, depth)) return false;
      const here = cursor.at;
      if (here === end || cursor.small(end) !== field.tag) {
        cursor.at = here;
        return isWithin(count, field.count);
      }
    }
  }

  #name(field: SoundnessFieldPlan, end: number): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    if (field.scalar !== ScalarType.STRING || !this.#value(field, end, 0)) return false;
    this.#nameEnd = cursor.at;
    cursor.at = start;
    cursor.small(end);
    this.#nameStart = cursor.at;
    cursor.at = this.#nameEnd;
    return true;
  }

  #value(field: SoundnessFieldPlan, end: number, depth: number): boolean {
    switch (field.form) {
      case form.SCALAR:
        return this.#scalar(field, end);
      case form.MESSAGE: {
        const stop = this.#cursor.stop(end);
        return stop !== -1 && this.#message(field.below(), stop, depth + 1);
      }
      case form.DURATION:
        return this.#duration(field, end);
      default:
        return false;
    }
  }

  #packed(field: SoundnessFieldPlan, end: number): boolean {
    const cursor = this.#cursor;
    const stop = cursor.stop(end);
    if (stop === -1) return false;
    let count = 0;
    for (; cursor.at < stop; count++) if (!this.#scalar(field, stop)) return false;
    return count > 0 && isWithin(count, field.count);
  }

  #scalar(field: SoundnessFieldPlan, end: number): boolean {
    const cursor = this.#cursor;
    switch (field.scalar) {
      case ScalarType.STRING: {
        const stop = cursor.stop(end);
        return stop !== -1 && this.#soundText(field, stop);
      }
      case ScalarType.BYTES: {
        const stop = cursor.stop(end);
        const start = cursor.at;
        cursor.at = stop;
        if (stop === -1) return false;
        return isWithin(stop - start, field.sound) || this.#breaksNone(field, cursor.bytes.subarray(start, stop));
      }
      case ScalarType.FLOAT:
      case ScalarType.FIXED32:
      case ScalarType.SFIXED32:
        if (!cursor.forward(4, end)) return false;
        return field.checks.length === 0 || this.#breaksNone(field, this.#view(4).getFloat32(0, true));
      case ScalarType.DOUBLE:
      case ScalarType.FIXED64:
      case ScalarType.SFIXED64:
        if (!cursor.forward(8, end)) return false;
        return field.checks.length === 0 || this.#breaksNone(field, this.#view(8).getFloat64(0, true));
      default: {
        const lower = cursor.varint(end);
        if (lower === -1) return false;
        return field.checks.length === 0 || this.#breaksNone(field, this.#number(field.scalar, lower));
      }
    }
  }

  #soundText(field: SoundnessFieldPlan, stop: number): boolean {
    const cursor = this.#cursor;
    const { bytes, at: start } = cursor;
    cursor.at = stop;
    if (!isText(bytes, start, stop)) return false;
    return isWithin(stop - start, field.sound) || this.#breaksNone(field, this.#text(start, stop));
  }

  /** Returns the last varint as the decoder would. */
  #number(scalar: ScalarType, lower: number): unknown {
    const { upper } = this.#cursor;
    switch (scalar) {
      case ScalarType.BOOL:
        return lower !== 0 || upper !== 0;
      case ScalarType.UINT32:
        return lower;
      case ScalarType.UINT64:
        return BigInt(upper) * TWO_TO_32 + BigInt(lower);
      case ScalarType.INT64:
        return BigInt(upper | 0) * TWO_TO_32 + BigInt(lower);
      default:
        return lower | 0;
    }
  }

  /** Returns a view of the bytes just skipped. */
  #view(length: number): DataView {
    const { bytes, at } = this.#cursor;
    return new DataView(bytes.buffer, bytes.byteOffset + at - length, length);
  }

  #duration(field: SoundnessFieldPlan, end: number): boolean {
    const cursor = this.#cursor;
    const stop = cursor.stop(end);
    if (stop === -1) return false;
    let seconds: unknown = 0n;
    let nanos: unknown = 0;
    let last = 0;
    while (cursor.at < stop) {
      const tag = cursor.small(stop);
      const isKnown = tag === inDuration.SECONDS || tag === inDuration.NANOS;
      const lower = isKnown && tag > last ? cursor.varint(stop) : -1;
      if (lower === -1) return false;
      if (tag === inDuration.SECONDS) seconds = this.#number(ScalarType.INT64, lower);
      else nanos = this.#number(ScalarType.INT32, lower);
      last = tag;
    }
    return this.#breaksNone(field, { seconds, nanos });
  }

  /** An Any of an unknown type is passed on as it is. */
  #any(end: number, depth: number): boolean {
    const cursor = this.#cursor;
    let type = "";
    let start = end;
    let stop = end;
    let last = 0;
    while (cursor.at < end) {
      const tag = cursor.small(end);
      const isKnown = tag === inAny.TYPE_URL || tag === inAny.VALUE;
      const limit = isKnown && tag > last ? cursor.stop(end) : -1;
      if (limit === -1) return false;
      if (tag === inAny.VALUE) [start, stop] = [cursor.at, limit];
      else if (!isAscii(cursor.bytes, cursor.at, limit)) return false;
      else type = this.#text(cursor.at, limit);
      cursor.at = limit;
      last = tag;
    }
    const message = this.#schema.message(type);
    if (message === undefined) return true;
    cursor.at = start;
    const isSound = this.#message(this.#plans.of(message), stop, depth + 1);
    cursor.at = end;
    return isSound;
  }

  #text(start: number, end: number): string {
    return start === end ? "" : strict.decode(this.#cursor.bytes.subarray(start, end));
  }

  #breaksNone({ checks }: SoundnessFieldPlan, value: unknown): boolean {
    for (const check of checks) check(value, this.#problems);
    if (this.#problems.problems.length === 0) return true;
    this.#problems = new ProblemList();
    return false;
  }
}

function isWithin(length: number, { least, most }: LengthBounds): boolean {
  return length >= least && length <= most;
}

/**
 * A platform call costs as much as a check of some bytes. Decoders treat a byte order mark differently, so it does not
 * count as sound.
 */
function isText(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start <= SHORT_TEXT && isAscii(bytes, start, end)) return true;
  const isMarked = BYTE_ORDER_MARK.every((byte, i) => bytes[start + i] === byte);
  return !isMarked && isUtf8(bytes.subarray(start, end));
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let bits = 0;
  for (let at = start; at < end; at++) bits |= bytes[at] as number;
  return bits < 0x80;
}
