import { lengthTag, WireReader } from "../wire/reader.ts";

/** A file of a descriptor set of which nothing is decoded but what it declares. */
export interface PackedFile {
  readonly name: string;
  /** The encoded `FileDescriptorProto`. */
  readonly bytes: Uint8Array;
  /** Full names of its messages, enums, services and extensions; what stands in a message is not among them. */
  readonly declares: readonly string[];
  readonly hasExtensions: boolean;
}

const FILE_IN_SET = lengthTag(1);
const inFile = {
  NAME: lengthTag(1),
  PACKAGE: lengthTag(2),
  MESSAGE: lengthTag(4),
  ENUM: lengthTag(5),
  SERVICE: lengthTag(6),
  EXTENSION: lengthTag(7),
} as const;
/** Of a message, an enum, a service, an extension. */
const NAME_OF_DECLARATION = lengthTag(1);

/** The files of an encoded `FileDescriptorSet`. Throws a `WireError` if it is none. */
export function unpackFiles(set: Uint8Array): readonly PackedFile[] {
  const files: PackedFile[] = [];
  const reader = new WireReader(set);
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === FILE_IN_SET) files.push(unpackFile(reader.bytes()));
    else reader.skip(tag);
  }
  return files;
}

function unpackFile(bytes: Uint8Array): PackedFile {
  let name = "";
  let scope = "";
  let hasExtensions = false;
  const declared: string[] = [];
  const reader = new WireReader(bytes);
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case inFile.NAME:
        name = reader.string();
        break;
      case inFile.PACKAGE:
        scope = `${reader.string()}.`;
        break;
      case inFile.EXTENSION:
        hasExtensions = true;
        declared.push(nameIn(reader.message()));
        break;
      case inFile.MESSAGE:
      case inFile.ENUM:
      case inFile.SERVICE:
        declared.push(nameIn(reader.message()));
        break;
      default:
        reader.skip(tag);
    }
  }
  return { name, bytes, declares: declared.map((one) => scope + one), hasExtensions };
}

/** Encoders write the name first, so nothing else is passed over. */
function nameIn(declaration: WireReader): string {
  while (declaration.hasMore) {
    const tag = declaration.tag();
    if (tag === NAME_OF_DECLARATION) return declaration.string();
    declaration.skip(tag);
  }
  return "";
}
