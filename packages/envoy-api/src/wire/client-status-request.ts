/** `ClientStatusRequest` of v2 and v3: which clients to report. Unknown fields are skipped (B-MSC-09). */
import { fixed64Tag, lengthTag, varintTag, WireReader } from "./reader.ts";
import { WireError } from "./wire-error.ts";

/** A decoded request to the client status service. */
export interface ClientStatusRequest {
  /** A client is reported if any of them matches; without matchers, all are (S-CSD-01). */
  readonly nodeMatchers: readonly NodeMatcher[];
  readonly excludeResourceContents: boolean;
}

/** Matches if all its conditions do; an empty one matches every node. */
export interface NodeMatcher {
  readonly nodeId: StringMatcher | undefined;
  readonly nodeMetadatas: readonly StructMatcher[];
}

/** A condition on a text. `custom` is an extension, which is not supported. */
export interface StringMatcher {
  readonly kind: "exact" | "prefix" | "suffix" | "contains" | "regex" | "custom";
  readonly text: string;
  readonly ignoreCase: boolean;
}

/** A condition on a value in a node's metadata, found by a path of keys. */
export interface StructMatcher {
  readonly path: readonly string[];
  readonly value: ValueMatcher;
}

/** A condition on a metadata value. `none`: the matcher has no condition. */
export type ValueMatcher =
  | { readonly kind: "none" | "null" }
  | { readonly kind: "number"; readonly exact: number }
  /** From `start`, inclusive, to `end`, exclusive. */
  | { readonly kind: "range"; readonly start: number; readonly end: number }
  | { readonly kind: "string"; readonly string: StringMatcher }
  | { readonly kind: "bool"; readonly bool: boolean }
  | { readonly kind: "present"; readonly isPresent: boolean }
  /** A list with an element that matches. */
  | { readonly kind: "one-of"; readonly element: ValueMatcher }
  | { readonly kind: "or"; readonly values: readonly ValueMatcher[] };

/** Limits per request; nested matchers count too. */
const MAX_MATCHERS = 1_000;
const MAX_DEPTH = 32;

/**
 * Decodes a request.
 *
 * @throws {WireError} if the bytes are not such a request, or it exceeds the limits
 */
export function decodeClientStatusRequest(bytes: Uint8Array): ClientStatusRequest {
  const reader = new WireReader(bytes);
  const budget = new Budget();
  const nodeMatchers: NodeMatcher[] = [];
  let excludeResourceContents = false;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) nodeMatchers.push(readNodeMatcher(reader.message(), budget));
    else if (tag === varintTag(3)) excludeResourceContents = reader.bool();
    else reader.skip(tag);
  }
  return { nodeMatchers, excludeResourceContents };
}

class Budget {
  #left = MAX_MATCHERS;

  spend(): void {
    if (this.#left-- <= 0) throw new WireError(`more than ${MAX_MATCHERS} matchers in one request`);
  }
}

function readNodeMatcher(reader: WireReader, budget: Budget): NodeMatcher {
  budget.spend();
  let nodeId: StringMatcher | undefined;
  const nodeMetadatas: StructMatcher[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) nodeId = readStringMatcher(reader.message());
    else if (tag === lengthTag(2)) nodeMetadatas.push(readStructMatcher(reader.message(), budget));
    else reader.skip(tag);
  }
  return { nodeId, nodeMetadatas };
}

/** 4 is the regular expression of old v2 clients; v3 has only the one inside `safe_regex`. */
const textKinds: ReadonlyMap<number, StringMatcher["kind"]> = new Map([
  [lengthTag(1), "exact"],
  [lengthTag(2), "prefix"],
  [lengthTag(3), "suffix"],
  [lengthTag(4), "regex"],
  [lengthTag(7), "contains"],
]);

function readStringMatcher(reader: WireReader): StringMatcher {
  let kind: StringMatcher["kind"] = "exact";
  let text = "";
  let ignoreCase = false;
  while (reader.hasMore) {
    const tag = reader.tag();
    const textKind = textKinds.get(tag);
    if (textKind !== undefined) {
      kind = textKind;
      text = reader.string();
    } else if (tag === lengthTag(5)) {
      kind = "regex";
      text = readRegex(reader.message());
    } else if (tag === lengthTag(8)) {
      kind = "custom";
      text = "";
      reader.skip(tag);
    } else if (tag === varintTag(6)) ignoreCase = reader.bool();
    else reader.skip(tag);
  }
  return { kind, text, ignoreCase };
}

function readRegex(reader: WireReader): string {
  let regex = "";
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(2)) regex = reader.string();
    else reader.skip(tag);
  }
  return regex;
}

function readStructMatcher(reader: WireReader, budget: Budget): StructMatcher {
  budget.spend();
  const path: string[] = [];
  let value: ValueMatcher = { kind: "none" };
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(2)) {
      budget.spend();
      path.push(readPathSegment(reader.message()));
    } else if (tag === lengthTag(3)) value = readValueMatcher(reader.message(), budget, 0);
    else reader.skip(tag);
  }
  return { path, value };
}

function readPathSegment(reader: WireReader): string {
  let key = "";
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) key = reader.string();
    else reader.skip(tag);
  }
  return key;
}

function readValueMatcher(reader: WireReader, budget: Budget, depth: number): ValueMatcher {
  budget.spend();
  if (depth > MAX_DEPTH) throw new WireError(`matchers nested deeper than ${MAX_DEPTH}`);
  let value: ValueMatcher = { kind: "none" };
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case lengthTag(1):
        reader.skip(tag);
        value = { kind: "null" };
        break;
      case lengthTag(2):
        value = readDoubleMatcher(reader.message());
        break;
      case lengthTag(3):
        value = { kind: "string", string: readStringMatcher(reader.message()) };
        break;
      case varintTag(4):
        value = { kind: "bool", bool: reader.bool() };
        break;
      case varintTag(5):
        value = { kind: "present", isPresent: reader.bool() };
        break;
      case lengthTag(6):
        value = { kind: "one-of", element: readFirstMatcher(reader.message(), budget, depth + 1) };
        break;
      case lengthTag(7):
        value = { kind: "or", values: readMatchers(reader.message(), budget, depth + 1) };
        break;
      default:
        reader.skip(tag);
    }
  }
  return value;
}

function readFirstMatcher(reader: WireReader, budget: Budget, depth: number): ValueMatcher {
  return readMatchers(reader, budget, depth).at(-1) ?? { kind: "none" };
}

function readMatchers(reader: WireReader, budget: Budget, depth: number): readonly ValueMatcher[] {
  const values: ValueMatcher[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) values.push(readValueMatcher(reader.message(), budget, depth));
    else reader.skip(tag);
  }
  return values;
}

function readDoubleMatcher(reader: WireReader): ValueMatcher {
  let value: ValueMatcher = { kind: "none" };
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) value = readRange(reader.message());
    else if (tag === fixed64Tag(2)) value = { kind: "number", exact: reader.double() };
    else reader.skip(tag);
  }
  return value;
}

function readRange(reader: WireReader): ValueMatcher {
  let start = 0;
  let end = 0;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === fixed64Tag(1)) start = reader.double();
    else if (tag === fixed64Tag(2)) end = reader.double();
    else reader.skip(tag);
  }
  return { kind: "range", start, end };
}
