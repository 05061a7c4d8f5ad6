import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { standsForJson } from "../format/struct-message.ts";
import { asciiText } from "../platform.ts";
import { lengthTag } from "../wire/reader.ts";
import { Cursor } from "./cursor.ts";

/** Deeper than any real message, but less deep than a decoder goes. */
const DEEPEST = 60;
const LENGTH_DELIMITED = 2;
const inAny = { TYPE_URL: lengthTag(1), VALUE: lengthTag(2) } as const;

/** By field number, what is to be looked at: places for secrets, and messages in which there may be some. */
type Places = ("secret" | "any" | Places)[];

/**
 * Finds out without decoding whether an encoded message has anything in a field that is marked as sensitive. Secrets that
 * are recognised by their own text or by their key are not found.
 */
export class SecretPlaces {
  readonly #schema: Schema;
  readonly #places = new Map<DescMessage, Places>();
  readonly #cursor = new Cursor();

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** Whether anything is in such a field, or cannot be read. */
  areUsed(message: DescMessage, bytes: Uint8Array): boolean {
    this.#cursor.enter(bytes);
    const areUsed = this.#areUsedIn(message, bytes.length, 0);
    this.#cursor.leave();
    return areUsed;
  }

  #areUsedIn(message: DescMessage, end: number, depth: number): boolean {
    if (this.#schema.shapeOf(message).isSecret) return true;
    if (representationOf(message) === "any") return this.#areUsedInAny(end, depth);
    return this.#areUsed(this.#placesIn(message), end, depth);
  }

  #areUsed(places: Places, end: number, depth: number): boolean {
    if (depth > DEEPEST) return true;
    const cursor = this.#cursor;
    while (cursor.at < end) {
      const tag = cursor.small(end);
      const place = places[tag >>> 3];
      if (place === undefined) {
        if (tag < 8 || !cursor.skip(tag, end)) return true;
        continue;
      }
      if (place === "secret" || (tag & 7) !== LENGTH_DELIMITED) return true;
      const stop = cursor.stop(end);
      if (stop === -1) return true;
      if (place === "any" ? this.#areUsedInAny(stop, depth + 1) : this.#areUsed(place, stop, depth + 1)) return true;
    }
    return false;
  }

  /** Nothing is found in a message of an unknown type. */
  #areUsedInAny(end: number, depth: number): boolean {
    const cursor = this.#cursor;
    let type: string | undefined;
    while (cursor.at < end) {
      const tag = cursor.small(end);
      // Encoders write each once, and the type first.
      if (tag !== (type === undefined ? inAny.TYPE_URL : inAny.VALUE)) return true;
      const stop = cursor.stop(end);
      if (stop === -1) return true;
      if (type === undefined) type = asciiText(cursor.bytes.subarray(cursor.at, stop));
      else {
        const message = this.#schema.message(type);
        if (message !== undefined && (depth > DEEPEST || this.#areUsedIn(message, stop, depth + 1))) return true;
      }
      cursor.at = stop;
    }
    return false;
  }

  #placesIn(message: DescMessage): Places {
    const known = this.#places.get(message);
    if (known !== undefined) return known;
    const places: Places = [];
    // Before its fields, because a message may hold others of its type.
    this.#places.set(message, places);
    const { sensitive } = this.#schema.shapeOf(message);
    for (const field of message.fields) {
      const place = sensitive.has(field) ? "secret" : this.#placeOf(field);
      if (place !== undefined) places[field.number] = place;
    }
    return places;
  }

  #placeOf(field: DescField): Places[number] | undefined {
    const { message } = field;
    if (message === undefined || standsForJson(message)) return undefined;
    if (this.#schema.shapeOf(message).isSecret) return "secret";
    const places = representationOf(message) === "any" ? "any" : this.#placesIn(message);
    if (field.fieldKind !== "map") return places;
    const ofEntry: Places = [];
    ofEntry[2] = places;
    return ofEntry;
  }
}
