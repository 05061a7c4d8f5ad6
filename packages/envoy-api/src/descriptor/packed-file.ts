import { BinaryReader } from "@bufbuild/protobuf/wire";

/** A file of a descriptor set, decoded only as far as its declarations. */
export interface PackedFile {
  readonly name: string;
  /** The encoded `FileDescriptorProto`. */
  readonly bytes: Uint8Array;
  /** Full names of its top-level messages, enums, services and extensions. */
  readonly declares: readonly string[];
  readonly hasExtensions: boolean;
}

/** Field number of `FileDescriptorSet`. */
const FILE_IN_SET = 1;
/** Field numbers of `FileDescriptorProto`. */
const inFile = { NAME: 1, PACKAGE: 2, MESSAGE: 4, ENUM: 5, SERVICE: 6, EXTENSION: 7 } as const;
/** Field number of the name in a message, an enum, a service and an extension. */
const NAME_OF_DECLARATION = 1;

/** Splits an encoded `FileDescriptorSet` into its files. Throws if it cannot be decoded. */
export function unpackFiles(set: Uint8Array): readonly PackedFile[] {
  const files: PackedFile[] = [];
  const reader = new BinaryReader(set);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === FILE_IN_SET) files.push(unpackFile(reader.bytes()));
    else reader.skip(wireType, field);
  }
  return files;
}

function unpackFile(bytes: Uint8Array): PackedFile {
  let name = "";
  let scope = "";
  let hasExtensions = false;
  const declared: string[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    switch (field) {
      case inFile.NAME:
        name = reader.string();
        break;
      case inFile.PACKAGE:
        scope = `${reader.string()}.`;
        break;
      case inFile.EXTENSION:
        hasExtensions = true;
        declared.push(nameIn(reader.bytes()));
        break;
      case inFile.MESSAGE:
      case inFile.ENUM:
      case inFile.SERVICE:
        declared.push(nameIn(reader.bytes()));
        break;
      default:
        reader.skip(wireType, field);
    }
  }
  return { name, bytes, declares: declared.map((one) => scope + one), hasExtensions };
}

/** Encoders write the name first, so little else is skipped. */
function nameIn(declaration: Uint8Array): string {
  const reader = new BinaryReader(declaration);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === NAME_OF_DECLARATION) return reader.string();
    reader.skip(wireType, field);
  }
  return "";
}
