/** `DynamicParameterConstraints`: which clients a variant of a resource is for (B-LOC-04). */
import type { Constraints } from "@xdskit/protocol";
import { lengthTag, WireReader } from "./reader.ts";
import { WireError } from "./wire-error.ts";
import { WireWriter } from "./writer.ts";

const SINGLE = lengthTag(1);
const ANY = lengthTag(2);
const ALL = lengthTag(3);
const NOT = lengthTag(4);
const LIST_ITEM = lengthTag(1);
const KEY = lengthTag(1);
const VALUE = lengthTag(2);
const EXISTS = lengthTag(3);

/** Deeper nesting is rejected, as by protobuf's own decoders. */
const MAX_DEPTH = 50;

/** Matches every client: the meaning of an empty message. */
const always: Constraints = { kind: "all", of: [] };

/**
 * Decodes constraints.
 *
 * @throws {WireError} if the bytes are not constraints, or one names a parameter without a condition
 */
export function decodeConstraints(bytes: Uint8Array): Constraints {
  return readConstraints(new WireReader(bytes), 0);
}

/** Encodes what `decodeConstraints` decodes. */
export function encodeConstraints(constraints: Constraints): Uint8Array {
  const writer = new WireWriter();
  writeConstraints(writer, constraints);
  return writer.finish();
}

/** The last member of the oneof wins. */
function readConstraints(reader: WireReader, depth: number): Constraints {
  if (depth > MAX_DEPTH) throw new WireError(`constraints within constraints, more than ${MAX_DEPTH} deep`);
  let constraints = always;
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case SINGLE:
        constraints = readSingle(reader.message());
        break;
      case ANY:
        constraints = { kind: "any", of: readList(reader.message(), depth) };
        break;
      case ALL:
        constraints = { kind: "all", of: readList(reader.message(), depth) };
        break;
      case NOT:
        constraints = { kind: "not", of: readConstraints(reader.message(), depth + 1) };
        break;
      default:
        reader.skip(tag);
    }
  }
  return constraints;
}

function readList(reader: WireReader, depth: number): readonly Constraints[] {
  const list: Constraints[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === LIST_ITEM) list.push(readConstraints(reader.message(), depth + 1));
    else reader.skip(tag);
  }
  return list;
}

function readSingle(reader: WireReader): Constraints {
  let key = "";
  let wanted: { readonly value: string } | "exists" | undefined;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === KEY) key = reader.string();
    else if (tag === VALUE) wanted = { value: reader.string() };
    else if (tag === EXISTS) {
      reader.skip(tag);
      wanted = "exists";
    } else reader.skip(tag);
  }
  if (wanted === undefined)
    throw new WireError(`expected a value of ${JSON.stringify(key)} or that it exists, got neither`);
  return wanted === "exists" ? { kind: "exists", key } : { kind: "value", key, value: wanted.value };
}

function writeConstraints(writer: WireWriter, constraints: Constraints): void {
  switch (constraints.kind) {
    case "value":
      writer.message(1, (single) => {
        single.optionalString(1, constraints.key).string(2, constraints.value);
      });
      break;
    case "exists":
      writer.message(1, (single) => {
        single.optionalString(1, constraints.key).message(3, () => {});
      });
      break;
    case "not":
      writer.message(4, (inner) => writeConstraints(inner, constraints.of));
      break;
    case "any":
    case "all":
      if (constraints.kind === "all" && constraints.of.length === 0) break;
      writer.message(constraints.kind === "any" ? 2 : 3, (list) => {
        for (const one of constraints.of) list.message(1, (inner) => writeConstraints(inner, one));
      });
  }
}
