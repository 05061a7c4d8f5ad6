/** `ResourceLocator` and `ResourceName`: names with dynamic parameters, which select a variant of a resource. */
import { canonicalName, constraintsOf, locatedTerm, parseLocated, parseVariantKey } from "@xdskit/protocol/internal";
import { encodeConstraints } from "./constraints.ts";
import { lengthTag, type WireReader } from "./reader.ts";
import { WireError } from "./wire-error.ts";
import type { WireWriter } from "./writer.ts";

/** A subscribed name with the client's dynamic parameters. */
export interface ResourceLocatorMessage {
  readonly name: string;
  readonly dynamicParameters?: Readonly<Record<string, string>>;
}

/** A name in a response with the constraints of its variant. */
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

/** The most parameters of one name. */
const MAX_PARAMETERS = 256;

/** Reads a `ResourceLocator`: returns its name, or with parameters a located term (B-LOC-11). */
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

/** The last value of a repeated key wins. */
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
 * Returns the `ResourceName` for a variant, with its constraints, or for a located term without a resource, with its
 * parameters as constraints. Undefined if a plain name is enough.
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

/** Reads a `ResourceName` to the end of the reader. The constraints are a view of the bytes. */
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

/** Writes what `readResourceName` reads. */
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

/** Writes one entry of a string map; key and value are written even if empty, as by other encoders. */
export function writeTextEntry(writer: WireWriter, field: number, key: string, value: string): void {
  writer.message(field, (entry) => {
    entry.string(1, key).string(2, value);
  });
}
