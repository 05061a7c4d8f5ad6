/**
 * `envoy.config.core.v3.Node`, and v2's. Of the 58 KB that an Envoy sends with every request, 57 are the list of its
 * extensions, which is not used: it is skipped, and the rest is compared with that of the previous request.
 */
import type { Node } from "@xdskit/protocol";
import { createEncodedNode } from "@xdskit/protocol/internal";
import { lengthTag, varintTag, WireReader } from "./reader.ts";
import { readParameter, writeTextEntry } from "./resource-name.ts";
import { checkStruct, readStruct, writeStruct } from "./struct.ts";
import { NodeSizeError, WireError } from "./wire-error.ts";
import { WireWriter } from "./writer.ts";

const ID = lengthTag(1);
const CLUSTER = lengthTag(2);
const METADATA = lengthTag(3);
const LOCALITY = lengthTag(4);
const USER_AGENT_NAME = lengthTag(6);
const USER_AGENT_VERSION = lengthTag(7);
const USER_AGENT_BUILD_VERSION = lengthTag(8);
const CLIENT_FEATURES = lengthTag(10);
const DYNAMIC_PARAMETERS = lengthTag(12);
const ENTRY_KEY = lengthTag(1);
const ENTRY_VALUE = lengthTag(2);

const readTags: ReadonlySet<number> = new Set([
  ID,
  CLUSTER,
  METADATA,
  LOCALITY,
  USER_AGENT_NAME,
  USER_AGENT_VERSION,
  USER_AGENT_BUILD_VERSION,
  CLIENT_FEATURES,
  DYNAMIC_PARAMETERS,
]);

/** The largest node, without its extensions: a node stays in memory as long as its stream. */
export const MAX_NODE_BYTES: number = 4 * 1024 * 1024;

/** Decodes a node. The last occurrence of a field wins. */
export function decodeNode(bytes: Uint8Array): Node {
  const { fields, metadata } = readFields(bytes);
  return nodeOf(fields, metadata === undefined ? {} : readStruct(metadata()));
}

/** As `decodeNode`, except that metadata is decoded when it is read: keeps the bytes, which must not change. */
function decodeNodeLazily(bytes: Uint8Array): Node {
  const { fields, metadata } = readFields(bytes);
  if (metadata === undefined) return nodeOf(fields, {});
  return createEncodedNode(fields, { byteLength: bytes.length, decode: () => readStruct(metadata()) });
}

/** Not a spread: what is added to the copy would give each node a shape of its own, 400 bytes, and slow to read. */
function nodeOf(fields: NodeParts["fields"], metadata: Node["metadata"]): Node {
  return Object.assign({}, fields, { metadata });
}

interface NodeParts {
  readonly fields: Omit<Node, "metadata">;
  /** Reads the metadata, which has been checked; undefined: there is none. */
  readonly metadata: (() => WireReader) | undefined;
}

function readFields(bytes: Uint8Array): NodeParts {
  if (bytes.length > MAX_NODE_BYTES) throw new WireError(`node of ${bytes.length} bytes, at most ${MAX_NODE_BYTES}`);
  const reader = new WireReader(bytes);
  let id = "";
  let cluster = "";
  let metadata: NodeParts["metadata"];
  let locality: Node["locality"];
  let userAgentName = "";
  let userAgentVersion = "";
  const clientFeatures: string[] = [];
  const dynamicParameters = new Map<string, Readonly<Record<string, string>>>();
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case ID:
        id = reader.string();
        break;
      case CLUSTER:
        cluster = reader.string();
        break;
      case METADATA: {
        const struct = reader.bytes();
        checkStruct(new WireReader(struct));
        metadata = () => new WireReader(struct);
        break;
      }
      case LOCALITY:
        locality = readLocality(reader.message());
        break;
      case USER_AGENT_NAME:
        userAgentName = reader.string();
        break;
      case USER_AGENT_VERSION:
        userAgentVersion = reader.string();
        break;
      case USER_AGENT_BUILD_VERSION:
        userAgentVersion = readBuildVersion(reader.message());
        break;
      case CLIENT_FEATURES:
        clientFeatures.push(reader.string());
        break;
      case DYNAMIC_PARAMETERS:
        readDynamicParameters(reader.message(), dynamicParameters);
        break;
      default:
        reader.skip(tag);
    }
  }
  const plain = { id, cluster, locality, userAgentName, userAgentVersion, clientFeatures };
  const fields =
    dynamicParameters.size === 0 ? plain : { ...plain, dynamicParameters: Object.fromEntries(dynamicParameters) };
  return { fields, metadata };
}

/** Reads an entry of the map from types to `xds.core.v3.ContextParams`. */
function readDynamicParameters(entry: WireReader, byType: Map<string, Readonly<Record<string, string>>>): void {
  let type = "";
  const parameters = new Map<string, string>();
  while (entry.hasMore) {
    const tag = entry.tag();
    if (tag === ENTRY_KEY) type = entry.string();
    else if (tag === ENTRY_VALUE) readContextParams(entry.message(), parameters);
    else entry.skip(tag);
  }
  byType.set(type, Object.fromEntries(parameters));
}

function readContextParams(reader: WireReader, parameters: Map<string, string>): void {
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) readParameter(reader.message(), parameters);
    else reader.skip(tag);
  }
}

function writeDynamicParameters(writer: WireWriter, { dynamicParameters = {} }: Node): void {
  for (const [type, parameters] of Object.entries(dynamicParameters)) {
    writer.message(12, (entry) => {
      entry.string(1, type).message(2, (inner) => {
        for (const [key, value] of Object.entries(parameters)) writeTextEntry(inner, 1, key, value);
      });
    });
  }
}

/** Encodes a `Node`; the version of the user agent as text. */
export function encodeNode(node: Node): Uint8Array {
  const writer = new WireWriter().optionalString(1, node.id).optionalString(2, node.cluster);
  if (Object.keys(node.metadata).length > 0) writer.message(3, (inner) => writeStruct(inner, node.metadata));
  const { locality } = node;
  if (locality !== undefined) writer.message(4, (inner) => writeLocality(inner, locality));
  writer
    .optionalString(6, node.userAgentName)
    .optionalString(7, node.userAgentVersion)
    .strings(10, node.clientFeatures);
  writeDynamicParameters(writer, node);
  return writer.finish();
}

/** The node of one stream: returns the same object while the fields it uses do not change. */
export class NodeMemory {
  #node: Node | undefined;
  /** The bytes of the used fields, concatenated. A copy, so that the request can be freed. */
  #read: Buffer = Buffer.alloc(0);
  readonly #maxBytes: number;

  constructor(maxBytes: number = MAX_NODE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns the node.
   *
   * @throws {WireError} if the bytes are not a node; a `NodeSizeError` if it is only too large
   */
  read(bytes: Uint8Array): Node {
    const ranges = rangesRead(bytes);
    const length = lengthOf(ranges);
    if (length > this.#maxBytes) throw new NodeSizeError(length, this.#maxBytes);
    if (this.#node !== undefined && this.#isRemembered(bytes, ranges)) return this.#node;
    const read = copyOf(bytes, ranges);
    this.#node = decodeNodeLazily(read);
    this.#read = read;
    return this.#node;
  }

  #isRemembered(bytes: Uint8Array, ranges: readonly number[]): boolean {
    let compared = 0;
    for (let i = 0; i + 1 < ranges.length; i += 2) {
      const start = ranges[i] ?? 0;
      const end = ranges[i + 1] ?? 0;
      const next = compared + end - start;
      if (next > this.#read.length || this.#read.compare(bytes, start, end, compared, next) !== 0) return false;
      compared = next;
    }
    return compared === this.#read.length;
  }
}

/** Returns start and end of each range of used fields. */
function rangesRead(bytes: Uint8Array): number[] {
  const reader = new WireReader(bytes);
  const ranges: number[] = [];
  let isInside = false;
  while (reader.hasMore) {
    const start = reader.position;
    const tag = reader.tag();
    reader.skip(tag);
    if (readTags.has(tag) !== isInside) {
      ranges.push(start);
      isInside = !isInside;
    }
  }
  if (isInside) ranges.push(reader.position);
  return ranges;
}

/** Returns the total length of the ranges in bytes. */
function lengthOf(ranges: readonly number[]): number {
  return ranges.reduce((sum, place, index) => (index % 2 === 0 ? sum - place : sum + place), 0);
}

function copyOf(bytes: Uint8Array, ranges: readonly number[]): Buffer {
  const parts: Uint8Array[] = [];
  for (let i = 0; i + 1 < ranges.length; i += 2) parts.push(bytes.subarray(ranges[i], ranges[i + 1]));
  const copy = Buffer.allocUnsafeSlow(parts.reduce((total, part) => total + part.length, 0));
  let end = 0;
  for (const part of parts) {
    copy.set(part, end);
    end += part.length;
  }
  return copy;
}

/** Reads an `envoy.config.core.v3.Locality`. */
export function readLocality(reader: WireReader): Node["locality"] {
  const texts = ["", "", ""];
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1) || tag === lengthTag(2) || tag === lengthTag(3)) texts[(tag >>> 3) - 1] = reader.string();
    else reader.skip(tag);
  }
  const [region = "", zone = "", subZone = ""] = texts;
  return { region, zone, subZone };
}

/** Writes what `readLocality` reads. */
export function writeLocality(writer: WireWriter, locality: NonNullable<Node["locality"]>): void {
  writer.optionalString(1, locality.region).optionalString(2, locality.zone).optionalString(3, locality.subZone);
}

/** Returns a `BuildVersion` as "major.minor.patch"; "" if it has no numbers. */
function readBuildVersion(reader: WireReader): string {
  let version = "";
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) version = readSemanticVersion(reader.message());
    else reader.skip(tag);
  }
  return version;
}

function readSemanticVersion(reader: WireReader): string {
  const numbers = [0, 0, 0];
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === varintTag(1) || tag === varintTag(2) || tag === varintTag(3))
      numbers[(tag >>> 3) - 1] = reader.uint32();
    else reader.skip(tag);
  }
  return numbers.join(".");
}
