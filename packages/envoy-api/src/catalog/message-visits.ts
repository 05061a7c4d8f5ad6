import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { type AnyContent, type Content, DEEPEST_ANY, decodeAny } from "../format/content.ts";
import { fieldContent, isKeptPlain, messagesIn } from "../format/present-field.ts";
import { standsForJson } from "../format/struct-message.ts";
import type { NestedCheck } from "./entry.ts";

/** Adds what one message's own fields contribute. */
export type FindingReader<F> = (content: Content, findings: F[]) => void;

/** What a visit of a whole message collects. */
export interface Visit<F> {
  readonly findings: F[];
  /** Called for each message that a catalog entry checks, with the message's path. */
  readonly onChecked: (entry: NestedCheck, content: Message, path: readonly (string | number)[]) => void;
}

/** What to do with messages of one type: readers for their own fields, and the fields to visit below. */
interface Interest<F> {
  readonly readers: readonly FindingReader<F>[];
  readonly checkedBy: NestedCheck | undefined;
  readonly isAny: boolean;
  readonly below: readonly DescField[];
}

// A config source names a cluster of the bootstrap, never one that we serve.
const NOT_ENTERED = new Set(["envoy.config.core.v3.ConfigSource", "envoy.config.core.v3.ApiConfigSource"]);

/** Visits messages, and every `Any` in them, for which there are readers or checks. Skips what cannot hold any. */
export class MessageVisits<F> {
  readonly #schema: Schema;
  readonly #readers: ReadonlyMap<string, readonly FindingReader<F>[]>;
  readonly #checks: ReadonlyMap<string, NestedCheck>;
  readonly #interests = new Map<DescMessage, Interest<F> | undefined>();
  readonly #reaching = new Map<DescMessage, boolean>();
  readonly #path: (string | number)[] = [];
  #anyDepth = 0;

  /** `readers` by full message name; `catalog`: entries that check their message wherever it occurs. */
  constructor(
    schema: Schema,
    readers: ReadonlyMap<string, readonly FindingReader<F>[]>,
    catalog: readonly NestedCheck[],
  ) {
    this.#schema = schema;
    this.#readers = readers;
    this.#checks = new Map(
      catalog
        .filter((entry) => entry.checksNested)
        .map((entry) => [entry.type.slice(entry.type.lastIndexOf("/") + 1), entry]),
    );
  }

  visit(message: DescMessage, content: Message, visit: Visit<F>): void {
    this.#path.length = 0;
    this.#anyDepth = 0;
    this.#message(message, content as Content, visit);
  }

  #message(message: DescMessage, content: Content, visit: Visit<F>): void {
    const interest = this.#interestIn(message);
    if (interest === undefined) return;
    if (interest.isAny) {
      this.#any(content as unknown as AnyContent, visit);
      return;
    }
    for (const read of interest.readers) read(content, visit.findings);
    if (interest.checkedBy !== undefined) visit.onChecked(interest.checkedBy, content, this.#path);
    for (const field of interest.below) this.#field(field, content, visit);
  }

  #field(field: DescField, content: Content, visit: Visit<F>): void {
    const value = fieldContent(content, field);
    if (value === undefined || field.message === undefined) return;
    this.#path.push(field.name);
    for (const nested of messagesIn(field, value)) {
      if (nested.key !== undefined) this.#path.push(nested.key);
      this.#message(field.message, nested.content, visit);
      if (nested.key !== undefined) this.#path.pop();
    }
    this.#path.pop();
  }

  #any(any: AnyContent, visit: Visit<F>): void {
    if (this.#anyDepth >= DEEPEST_ANY) return;
    const decoded = decodeAny(any, this.#schema);
    if (decoded === undefined) return;
    this.#anyDepth++;
    this.#message(decoded.message, decoded.content, visit);
    this.#anyDepth--;
  }

  #interestIn(message: DescMessage): Interest<F> | undefined {
    if (this.#interests.has(message)) return this.#interests.get(message);
    const interest = this.#findInterest(message);
    this.#interests.set(message, interest);
    return interest;
  }

  #findInterest(message: DescMessage): Interest<F> | undefined {
    const readers = this.#readers.get(message.typeName) ?? [];
    const checkedBy = this.#checks.get(message.typeName);
    const isAny = representationOf(message) === "any";
    const below = message.fields.filter((field) => this.#mayEnter(field));
    const isEmpty = readers.length === 0 && checkedBy === undefined && !isAny && below.length === 0;
    return isEmpty ? undefined : { readers, checkedBy, isAny, below };
  }

  #mayEnter(field: DescField): boolean {
    if (field.message === undefined || isKeptPlain(field)) return false;
    return this.#reaches(field.message, new Set());
  }

  /** Whether a message of this type may hold anything to visit, at any depth. */
  #reaches(message: DescMessage, open: Set<DescMessage>): boolean {
    const known = this.#reaching.get(message);
    if (known !== undefined) return known;
    if (NOT_ENTERED.has(message.typeName) || standsForJson(message)) return false;
    const isOfInterest =
      this.#readers.has(message.typeName) || this.#checks.has(message.typeName) || representationOf(message) === "any";
    if (isOfInterest) {
      this.#reaching.set(message, true);
      return true;
    }
    open.add(message);
    const found = message.fields.some(
      (field) => field.message !== undefined && !open.has(field.message) && this.#reaches(field.message, open),
    );
    open.delete(message);
    // While an outer type is open, false may only mean "not on this path".
    if (found || open.size === 0) this.#reaching.set(message, found);
    return found;
  }
}
