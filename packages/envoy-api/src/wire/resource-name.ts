/** `ResourceLocator` and `ResourceName`: names with dynamic parameters, which choose among variants of a resource. */
import { lengthTag, type WireReader } from "./reader.ts";
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

/** The name in a `ResourceLocator`; its parameters are passed over. */
export function readLocatorName(reader: WireReader): string {
  return readResourceName(reader).name;
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
