/**
 * Frames: one resource, missing name or removed name as it is in a response, with tag and length, written one after
 * another. A resource's frame is a head, its bytes, and a tail; sizes are computed before writing, because a length
 * precedes what it counts.
 */
import { type ErrorDetail, formatTypeUrl, type Resource, type TypeUrl, type Variant } from "@xdskit/protocol";
import { type Heartbeat, shownName } from "@xdskit/protocol/internal";
import { listCollectionTypes } from "../descriptor/list-collection-types.ts";
import { lengthTag } from "./reader.ts";
import { durationOf } from "./resource-message.ts";
import { resourceNameOf, writeResourceName } from "./resource-name.ts";
import { writeStatus } from "./status.ts";
import { varintLength, WireWriter, writeVarint } from "./writer.ts";

const RESOURCES = lengthTag(2);
const REMOVED_RESOURCES = lengthTag(6);
const REMOVED_RESOURCE_NAMES = lengthTag(8);
const ERRORS = { sotw: lengthTag(7), delta: lengthTag(9) };
const ERROR_NAME = lengthTag(1);
const ERROR_DETAIL = lengthTag(2);
const ANY_TYPE_URL = lengthTag(1);
const ANY_VALUE = lengthTag(2);
const NAME_IN_RESOURCE_NAME = lengthTag(1);
const RESOURCE_VERSION = lengthTag(1);
const RESOURCE_BODY = lengthTag(2);
const RESOURCE_NAME = lengthTag(3);
const RESOURCE_ALIASES = lengthTag(4);
const RESOURCE_TTL = lengthTag(6);
const RESOURCE_CACHE_CONTROL = lengthTag(7);
const RESOURCE_VARIANT = lengthTag(8);
const RESOURCE_METADATA = lengthTag(9);
const DO_NOT_CACHE = Uint8Array.of(0x08, 0x01);
const WRAPPER = formatTypeUrl("envoy.service.discovery.v3.Resource");

const FIRST_BYTES = 16 * 1024;
const MAX_TAG_AND_LENGTH_BYTES = 6;
const MAX_DURATIONS = 256;
const MAX_VARIANT_NAMES = 4096;
const NOTHING = new Uint8Array(0);

/** What frames carry besides the content: TTLs or not; for v2, only what a v2 `Resource` has (requirements 1.4). */
export type FrameContent = "ttls-left-off" | "ttls-told" | "v2";

/** Writes frames of one variant into a reused buffer. */
export class FrameWriter {
  readonly #variant: Variant;
  readonly #tellsTtls: boolean;
  readonly #isOfV2: boolean;
  readonly #durations = new Map<number, Uint8Array>();
  /** Encoded names by variant key or located term. */
  readonly #variantNames = new Map<string, Uint8Array>();
  readonly #typeFields = new Map<TypeUrl, Uint8Array>();
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #end = 0;

  constructor(variant: Variant, content: FrameContent = "ttls-left-off") {
    this.#variant = variant;
    this.#tellsTtls = content === "ttls-told";
    this.#isOfV2 = content === "v2";
  }

  /** Bytes written since the last `take`. */
  get byteLength(): number {
    return this.#end;
  }

  /**
   * Returns the bytes written since the last call, in memory of their own: a small slice of a pool would keep 8 KB
   * alive.
   */
  take(): Uint8Array {
    const chunk = Buffer.allocUnsafeSlow(this.#end);
    this.#bytes.copy(chunk, 0, 0, this.#end);
    this.#end = 0;
    return chunk;
  }

  /** Writes the whole frame of a resource. */
  resource(resource: Resource): void {
    this.resourceHead(resource);
    this.#append(resource.bytes);
    this.resourceTail(resource);
  }

  /**
   * Writes what precedes the bytes of a resource. In State of the World that is an `Any` (S-TYP-03), in delta a
   * `Resource` with the `Any` inside. In State of the World, a TTL needs a `Resource` too, wrapped in an `Any` of its
   * own (S-TTL-02), without a version, because Envoy uses that of the response. A variant needs one for its constraints
   * (C-LOC-02).
   */
  resourceHead(resource: Resource): void {
    const { type, bodyType = type, bytes } = resource;
    const typeField = this.#typeField(bodyType);
    const anyLength = typeField.length + (bytes.length === 0 ? 0 : fieldLength(bytes.length));
    if (this.#variant === "delta") {
      const length = textFieldLength(resource.version) + fieldLength(anyLength) + this.#tailLength(resource);
      this.#start(RESOURCES, length);
      this.#optionalText(RESOURCE_VERSION, resource.version);
      this.#start(RESOURCE_BODY, anyLength);
    } else if (this.#isWrapped(resource)) {
      const wrapperField = this.#typeField(WRAPPER);
      const length = fieldLength(anyLength) + this.#tailLength(resource);
      this.#start(RESOURCES, wrapperField.length + fieldLength(length));
      this.#append(wrapperField);
      this.#start(ANY_VALUE, length);
      this.#start(RESOURCE_BODY, anyLength);
    } else {
      this.#start(RESOURCES, anyLength);
    }
    this.#append(typeField);
    if (bytes.length > 0) this.#start(ANY_VALUE, bytes.length);
  }

  /**
   * Writes what follows the bytes of a resource in a `Resource`: its name and other fields (B-DLT-12, B-MSC-01,
   * S-MSC-02).
   */
  resourceTail(resource: Resource): void {
    if (this.#variant === "sotw" && !this.#isWrapped(resource)) return;
    if (resource.variant === undefined) this.#optionalText(RESOURCE_NAME, resource.name);
    for (const alias of resource.aliases) this.#text(RESOURCE_ALIASES, alias);
    if (this.#tellsTtls && resource.ttlMs !== undefined) this.#field(RESOURCE_TTL, this.#duration(resource.ttlMs));
    if (resource.doNotCache && !this.#isOfV2) this.#field(RESOURCE_CACHE_CONTROL, DO_NOT_CACHE);
    if (resource.variant !== undefined) this.#field(RESOURCE_VARIANT, this.#variantName(resource.name));
    if (resource.metadata !== undefined && !this.#isOfV2) this.#field(RESOURCE_METADATA, resource.metadata);
  }

  /**
   * Writes a `Resource` without a body: the name does not exist (S-NEX-07). Envoy matches the alias if it requested a
   * virtual host.
   */
  missing(text: string): void {
    const name = resourceNameOf(text)?.name ?? shownName(text);
    this.#start(RESOURCES, 2 * textFieldLength(name));
    this.#text(RESOURCE_NAME, name);
    this.#text(RESOURCE_ALIASES, name);
  }

  /**
   * Writes a heartbeat: a `Resource` without a body at the version that the client holds, which renews its TTL
   * (S-TTL-09).
   */
  heartbeat({ name, version, ttlMs }: Heartbeat): void {
    const duration = ttlMs === undefined ? undefined : this.#duration(ttlMs);
    const ttlLength = duration === undefined ? 0 : fieldLength(duration.length);
    const variant = this.#encodedName(name);
    const nameLength = variant === undefined ? textFieldLength(name) : fieldLength(variant.length);
    this.#start(RESOURCES, textFieldLength(version) + nameLength + ttlLength);
    this.#optionalText(RESOURCE_VERSION, version);
    if (variant === undefined) this.#optionalText(RESOURCE_NAME, name);
    if (duration !== undefined) this.#field(RESOURCE_TTL, duration);
    if (variant !== undefined) this.#field(RESOURCE_VARIANT, variant);
  }

  /**
   * Writes a name in `removed_resources`, or in `removed_resource_names` if it has constraints or parameters
   * (S-LOC-06).
   */
  removed(name: string): void {
    const variant = this.#encodedName(name);
    if (variant === undefined) this.#text(REMOVED_RESOURCES, shownName(name));
    else this.#field(REMOVED_RESOURCE_NAMES, variant);
  }

  /** Writes a resource error in `resource_errors` (S-ERR-01). */
  error(name: string, detail: ErrorDetail): void {
    const status = new WireWriter();
    writeStatus(status, detail);
    this.#start(ERRORS[this.#variant], fieldLength(textFieldLength(name)) + fieldLength(status.written.length));
    this.#start(ERROR_NAME, textFieldLength(name));
    this.#optionalText(NAME_IN_RESOURCE_NAME, name);
    this.#field(ERROR_DETAIL, status.written);
  }

  #isWrapped({ type, ttlMs, variant, bodyType }: Resource): boolean {
    const isNameless = bodyType !== undefined || listCollectionTypes.has(type);
    return isNameless || (this.#tellsTtls && ttlMs !== undefined) || variant !== undefined;
  }

  /** Returns an encoded `ResourceName`; undefined if a plain name is enough. */
  #encodedName(text: string): Uint8Array | undefined {
    const known = this.#variantNames.get(text);
    if (known !== undefined) return known;
    const message = resourceNameOf(text);
    if (message === undefined) return undefined;
    const writer = new WireWriter();
    writeResourceName(writer, message);
    const encoded = writer.finish();
    if (this.#variantNames.size >= MAX_VARIANT_NAMES) this.#variantNames.clear();
    this.#variantNames.set(text, encoded);
    return encoded;
  }

  #variantName(key: string): Uint8Array {
    return this.#encodedName(key) ?? NOTHING;
  }

  #tailLength(resource: Resource): number {
    const { variant, name } = resource;
    const named = variant === undefined ? textFieldLength(name) : fieldLength(this.#variantName(name).length);
    const length = named + aliasesLength(resource) + (this.#isOfV2 ? 0 : extrasLength(resource));
    if (!this.#tellsTtls || resource.ttlMs === undefined) return length;
    return length + fieldLength(this.#duration(resource.ttlMs).length);
  }

  /** Cached, because many resources share few TTLs. */
  #duration(ms: number): Uint8Array {
    const known = this.#durations.get(ms);
    if (known !== undefined) return known;
    if (this.#durations.size >= MAX_DURATIONS) this.#durations.clear();
    const duration = durationOf(ms);
    this.#durations.set(ms, duration);
    return duration;
  }

  #optionalText(tag: number, text: string): void {
    if (text !== "") this.#text(tag, text);
  }

  #text(tag: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#start(tag, length);
    this.#reserve(length);
    this.#end += this.#bytes.write(text, this.#end);
  }

  #field(tag: number, bytes: Uint8Array): void {
    this.#start(tag, bytes.length);
    this.#append(bytes);
  }

  #start(tag: number, length: number): void {
    this.#reserve(MAX_TAG_AND_LENGTH_BYTES);
    this.#bytes[this.#end] = tag; // all field numbers here are below 16
    this.#end = writeVarint(this.#bytes, this.#end + 1, length);
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  #reserve(more: number): void {
    const needed = this.#end + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }

  #typeField(type: TypeUrl): Uint8Array {
    const known = this.#typeFields.get(type);
    if (known !== undefined) return known;
    const text = Buffer.from(type);
    const field = Buffer.allocUnsafeSlow(fieldLength(text.length));
    field[0] = ANY_TYPE_URL;
    text.copy(field, writeVarint(field, 1, text.length));
    this.#typeFields.set(type, field);
    return field;
  }
}

function aliasesLength({ aliases }: Resource): number {
  let length = 0;
  for (const alias of aliases) length += fieldLength(Buffer.byteLength(alias));
  return length;
}

function extrasLength({ doNotCache, metadata }: Resource): number {
  return (
    (doNotCache ? fieldLength(DO_NOT_CACHE.length) : 0) + (metadata === undefined ? 0 : fieldLength(metadata.length))
  );
}

/** The size of a text field that is omitted if empty. */
function textFieldLength(text: string): number {
  return text === "" ? 0 : fieldLength(Buffer.byteLength(text));
}

/** The size of tag, length and content; the field number is below 16. */
function fieldLength(contentLength: number): number {
  return 1 + varintLength(contentLength) + contentLength;
}
