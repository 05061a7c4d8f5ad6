/** The discovery messages as `@bufbuild/protobuf` knows them: the other opinion in tests of the codec. */
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import {
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const descriptors = new URL("../../gen/descriptors.binpb.br", import.meta.url);

export const registry: FileRegistry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, brotliDecompressSync(readFileSync(descriptors))),
);

/** Their encoding of a message in canonical JSON. */
export function encodeWithProtobufEs(messageName: string, json: unknown): Uint8Array {
  const schema = schemaOf(messageName);
  return toBinary(schema, fromJson(schema, json as JsonValue, { registry }));
}

/** Their encoding of what they read in these bytes; throws if they cannot read them. */
export function encodeAgainWithProtobufEs(messageName: string, bytes: Uint8Array): Buffer {
  const schema = schemaOf(messageName);
  return Buffer.from(toBinary(schema, fromBinary(schema, bytes)));
}

function schemaOf(messageName: string): DescMessage {
  const schema = registry.getMessage(messageName);
  if (schema === undefined) throw new Error(`no message ${messageName} in the descriptors`);
  return schema;
}
