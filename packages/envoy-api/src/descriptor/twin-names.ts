import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { ApiVersion } from "@xdskit/protocol";
import type { PackedFile } from "./packed-file.ts";

/** The names of messages that exist in both API versions, according to Envoy's files. */
export interface TwinNames {
  /** Returns the name in another version; undefined if the message does not exist there or is unversioned. */
  in(version: ApiVersion, name: string): string | undefined;
  /** Every v3 message that existed in v2, with its v2 name. */
  readonly pairs: ReadonlyMap<string, string>;
}

/** In `FileDescriptorProto`: the package, and its messages. */
const inFile: Wanted = { text: 2, nested: 4 };
/** In `DescriptorProto`: its name, the messages within, and its options. */
const inMessage: Wanted = { text: 1, nested: 3, options: 7 };
/** In `MessageOptions`: `udpa.annotations.versioning`. */
const inOptions: Wanted = { nested: 7_881_811 };
/** In `VersioningAnnotation`: `previous_message_type`. */
const inVersioning: Wanted = { text: 1 };

/**
 * Admin dumps changed between the versions and are never served. A predecessor in v3 is a slip in Envoy's files, or a
 * move within v3.
 */
function isTwin(name: string, previous: string): boolean {
  return previous !== "" && !name.startsWith("envoy.admin.") && !/\.v3(alpha)?\./.test(previous);
}

/**
 * Reads which v3 messages name a predecessor. Nothing is linked, which would take 100 ms for all of Envoy's files; this takes
 * 10 to 20.
 */
export function readTwinNames(files: Iterable<PackedFile>): TwinNames {
  const toV2 = new Map<string, string>();
  const toV3 = new Map<string, string>();
  const note = (name: string, previous: string): void => {
    if (!isTwin(name, previous)) return;
    toV2.set(name, previous);
    toV3.set(previous, name);
  };
  for (const { bytes } of files) {
    const { text: scope, nested } = read(bytes, inFile);
    for (const message of nested) readMessage(message, scope, note);
  }
  return { pairs: toV2, in: (version, name) => (version === "v2" ? toV2 : toV3).get(name) };
}

function readMessage(bytes: Uint8Array, scope: string, note: (name: string, previous: string) => void): void {
  const { text, nested, options } = read(bytes, inMessage);
  const name = scope === "" ? text : `${scope}.${text}`;
  for (const versioning of read(options, inOptions).nested) note(name, read(versioning, inVersioning).text);
  for (const message of nested) readMessage(message, name, note);
}

/** Field numbers of what is read of a message: a text, messages, and options. */
interface Wanted {
  readonly text?: number;
  readonly nested?: number;
  readonly options?: number;
}

const nothing: Uint8Array = new Uint8Array();

function read(bytes: Uint8Array, wanted: Wanted): { text: string; nested: Uint8Array[]; options: Uint8Array } {
  const found = { text: "", nested: [] as Uint8Array[], options: nothing };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === wanted.text) found.text = reader.string();
    else if (field === wanted.nested) found.nested.push(reader.bytes());
    else if (field === wanted.options) found.options = reader.bytes();
    else reader.skip(wireType, field);
  }
  return found;
}
