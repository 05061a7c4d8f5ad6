/** `ResourceLocator` and `ResourceName`: names with dynamic parameters, which choose among variants of a resource. */
import { canonicalName, constraintsOf, locatedTerm, parseLocated, parseVariantKey } from "@xdskit/protocol";
import { encodeConstraints } from "./constraints.ts";
import { lengthTag, type WireReader } from "./reader.ts";
import { WireError } from "./wire-error.ts";
import type { WireWriter } from "./writer.ts";

/** What a client asks for: a name, and the parameters it has. */
export interface ResourceLocatorMessage {
  readonly name: string;
  readonly dynamicParameters?: Readonly<Record<string, string>>;
}

/** What a server gives: a name, and for whom this variant is. */
export interface ResourceNameMessage {
  readonly name: string;
  /** An encoded `DynamicParameterConstraints`. */
  readonly dynamicParameterConstraints?: Uint8Array;
}

const NAME = lengthTag(1);
const CONSTRAINTS = lengthTag(2);
const PARAMETERS = lengthTag(2);
const ENTRY_KEY = lengthTag(1);
const ENTRY_VALUE = lengthTag(2);

/** A client with more parameters is none. */
const MAX_PARAMETERS = 256;

/** What a `ResourceLocator` asks for: a name, or a name with parameters as a located term (B-LOC-11). */
export function readLocator(reader: WireReader): string {
  let name = "";
  const parameters = new Map<string, string>();
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === NAME) name = reader.string();
    else if (tag === PARAMETERS) readParameter(reader.message(), parameters);
    else reader.skip(tag);
  }
  return parameters.size === 0 ? name : locatedTerm(canonicalName(name), parameters);
}

/** Of a key that occurs twice the last value counts. */
export function readParameter(entry: WireReader, parameters: Map<string, string>): void {
  let key = "";
  let value = "";
  while (entry.hasMore) {
    const tag = entry.tag();
    if (tag === ENTRY_KEY) key = entry.string();
    else if (tag === ENTRY_VALUE) value = entry.string();
    else entry.skip(tag);
  }
  parameters.set(key, value);
  if (parameters.size > MAX_PARAMETERS) throw new WireError(`more than ${MAX_PARAMETERS} parameters of one name`);
}

/**
 * What is told instead of a name of what has more than a name: of a variant its constraints, of a term that nothing answers to
 * its parameters as constraints. Undefined: a name says it all.
 */
export function resourceNameOf(text: string): ResourceNameMessage | undefined {
  const variant = parseVariantKey(text);
  if (variant !== undefined)
    return { name: variant.name, dynamicParameterConstraints: encodeConstraints(variant.constraints) };
  const located = parseLocated(text);
  if (located === undefined || located.parameters.size === 0) return undefined;
  const dynamicParameterConstraints = encodeConstraints(constraintsOf(located.parameters));
  return { name: located.name, dynamicParameterConstraints };
}

/** Reads to the end. The constraints are a view of the bytes that are read. */
export function readResourceName(reader: WireReader): ResourceNameMessage {
  let name = "";
  let dynamicParameterConstraints: Uint8Array | undefined;
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case NAME:
        name = reader.string();
        break;
      case CONSTRAINTS:
        dynamicParameterConstraints = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return dynamicParameterConstraints === undefined ? { name } : { name, dynamicParameterConstraints };
}

/** The opposite of `readResourceName`. */
export function writeResourceName(writer: WireWriter, resourceName: ResourceNameMessage): void {
  writer.optionalString(1, resourceName.name);
  const { dynamicParameterConstraints } = resourceName;
  if (dynamicParameterConstraints !== undefined) writer.bytes(2, dynamicParameterConstraints);
}

/** Writes a `ResourceLocator`. */
export function writeResourceLocator(writer: WireWriter, locator: ResourceLocatorMessage): void {
  writer.optionalString(1, locator.name);
  for (const [key, value] of Object.entries(locator.dynamicParameters ?? {})) writeTextEntry(writer, 2, key, value);
}

/** Writes one entry of a map from text to text; both are written even if empty, as everybody's encoder does. */
export function writeTextEntry(writer: WireWriter, field: number, key: string, value: string): void {
  writer.message(field, (entry) => {
    entry.string(1, key).string(2, value);
  });
}
