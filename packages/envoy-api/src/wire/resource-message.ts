/** `Resource`, which wraps each resource of a delta response, and `ResourceError`, which replaces one. */
import { type AnyMessage, readAny, writeAny } from "./any.ts";
import { readDuration, writeDuration } from "./duration.ts";
import { lengthTag, varintTag, WireReader } from "./reader.ts";
import { type ResourceNameMessage, readResourceName, writeResourceName } from "./resource-name.ts";
import { readStatus, type StatusMessage, writeStatus } from "./status.ts";
import { WireWriter } from "./writer.ts";

/** A `Resource` as on the wire. */
export interface ResourceMessage {
  readonly name: string;
  readonly version: string;
  /** Undefined in a heartbeat, and for a name that does not exist. */
  readonly resource: AnyMessage | undefined;
  readonly aliases: readonly string[];
  /** In milliseconds, possibly with a fraction. */
  readonly ttlMs: number | undefined;
  readonly doNotCache: boolean;
  /** Replaces `name` where a resource has variants. */
  readonly resourceName: ResourceNameMessage | undefined;
  /** An encoded `envoy.config.core.v3.Metadata`. */
  readonly metadata: Uint8Array | undefined;
}

/** A `ResourceError` as on the wire. */
export interface ResourceErrorMessage {
  readonly resourceName: ResourceNameMessage;
  readonly errorDetail: StatusMessage;
}

const VERSION = lengthTag(1);
const RESOURCE = lengthTag(2);
const NAME = lengthTag(3);
const ALIASES = lengthTag(4);
const TTL = lengthTag(6);
const CACHE_CONTROL = lengthTag(7);
const RESOURCE_NAME = lengthTag(8);
const METADATA = lengthTag(9);

/**
 * Decodes a `Resource`.
 *
 * @throws {WireError} if the bytes are not a `Resource`
 */
export function decodeResource(bytes: Uint8Array): ResourceMessage {
  return readResource(new WireReader(bytes));
}

/** Encodes a `Resource`; omits absent fields. */
export function encodeResource(message: Partial<ResourceMessage>): Uint8Array {
  const writer = new WireWriter();
  writeResource(writer, message);
  return writer.finish();
}

/** Reads a `Resource` to the end of the reader. Bytes are views. */
export function readResource(reader: WireReader): ResourceMessage {
  let name = "";
  let version = "";
  let resource: AnyMessage | undefined;
  const aliases: string[] = [];
  let ttlMs: number | undefined;
  let doNotCache = false;
  let resourceName: ResourceNameMessage | undefined;
  let metadata: Uint8Array | undefined;
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case VERSION:
        version = reader.string();
        break;
      case RESOURCE:
        resource = readAny(reader.message());
        break;
      case NAME:
        name = reader.string();
        break;
      case ALIASES:
        aliases.push(reader.string());
        break;
      case TTL:
        ttlMs = readDuration(reader.message());
        break;
      case CACHE_CONTROL:
        doNotCache = readDoNotCache(reader.message());
        break;
      case RESOURCE_NAME:
        resourceName = readResourceName(reader.message());
        break;
      case METADATA:
        metadata = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return { name, version, resource, aliases, ttlMs, doNotCache, resourceName, metadata };
}

/** Writes what `readResource` reads; omits absent fields. */
export function writeResource(writer: WireWriter, message: Partial<ResourceMessage>): void {
  const { resource, ttlMs, resourceName, metadata } = message;
  writer.optionalString(1, message.version);
  if (resource !== undefined) writer.message(2, (inner) => writeAny(inner, resource));
  writer.optionalString(3, message.name).strings(4, message.aliases);
  if (ttlMs !== undefined) writer.message(6, (inner) => writeDuration(inner, ttlMs));
  if (message.doNotCache === true) writer.message(7, (inner) => inner.bool(1, true));
  if (resourceName !== undefined) writer.message(8, (inner) => writeResourceName(inner, resourceName));
  if (metadata !== undefined) writer.bytes(9, metadata);
}

/** Reads a `ResourceError` to the end of the reader. */
export function readResourceError(reader: WireReader): ResourceErrorMessage {
  let resourceName: ResourceNameMessage = { name: "" };
  let errorDetail: StatusMessage = { code: 0, message: "", details: [] };
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) resourceName = readResourceName(reader.message());
    else if (tag === lengthTag(2)) errorDetail = readStatus(reader.message());
    else reader.skip(tag);
  }
  return { resourceName, errorDetail };
}

/** Writes what `readResourceError` reads. */
export function writeResourceError(writer: WireWriter, error: ResourceErrorMessage): void {
  writer.message(1, (inner) => writeResourceName(inner, error.resourceName));
  writer.message(2, (inner) => writeStatus(inner, error.errorDetail));
}

/** Encodes a `google.protobuf.Duration`. */
export function durationOf(ms: number): Uint8Array {
  const writer = new WireWriter();
  writeDuration(writer, ms);
  return writer.finish();
}

function readDoNotCache(reader: WireReader): boolean {
  let doNotCache = false;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === varintTag(1)) doNotCache = reader.bool();
    else reader.skip(tag);
  }
  return doNotCache;
}
