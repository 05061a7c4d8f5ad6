/**
 * Frames: what one resource, one missing or one removed name is in a response, tag and length included, written one behind
 * the other. A frame is a head, the bytes of the resource as they entered, and a tail; sizes are summed up before anything is
 * written, because a length stands in front of what it counts.
 */
import {
  type ErrorDetail,
  formatTypeUrl,
  type Heartbeat,
  type Resource,
  shownName,
  type TypeUrl,
  type Variant,
} from "@xdskit/protocol";
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

/** What frames carry of a resource beside its content: its ttl or not; of v2, only what a `Resource` of v2 has (requirements 1.4). */
export type FrameContent = "ttls-left-off" | "ttls-told" | "v2";

/** Writes frames of one variant into a buffer that it keeps, and gives away copies. */
export class FrameWriter {
  readonly #variant: Variant;
  readonly #tellsTtls: boolean;
  readonly #isOfV2: boolean;
  readonly #durations = new Map<number, Uint8Array>();
  /** Encoded names of variants by their keys. */
  readonly #variantNames = new Map<string, Uint8Array>();
  readonly #typeFields = new Map<TypeUrl, Uint8Array>();
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #end = 0;

  constructor(variant: Variant, content: FrameContent = "ttls-left-off") {
    this.#variant = variant;
    this.#tellsTtls = content === "ttls-told";
    this.#isOfV2 = content === "v2";
  }

  /** How much was written since `take`. */
  get byteLength(): number {
    return this.#end;
  }

  /** What was written since the last time, in memory of its own: a small slice of a pool would keep 8 KB alive. */
  take(): Uint8Array {
    const chunk = Buffer.allocUnsafeSlow(this.#end);
    this.#bytes.copy(chunk, 0, 0, this.#end);
    this.#end = 0;
    return chunk;
  }

  /** The whole frame of a resource. */
  resource(resource: Resource): void {
    this.resourceHead(resource);
    this.#append(resource.bytes);
    this.resourceTail(resource);
  }

  /**
   * What precedes the bytes of a resource. In State of the World it is an `Any` (S-TYP-03), in delta a `Resource` with the
   * `Any` inside. A ttl needs a `Resource` in State of the World too: in an `Any` of its own, around that of the resource
   * (S-TTL-02). It has no version there: Envoy takes that of the response. A variant needs one for its constraints (C-LOC-02).
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

  /** What follows the bytes of a resource in a `Resource`: its name and what else is known of it (B-DLT-12, B-MSC-01, S-MSC-02). */
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
   * A `Resource` without a body: nothing has this name (S-NEX-07). The alias is what Envoy compares when it asked for a virtual
   * host.
   */
  missing(text: string): void {
    const name = resourceNameOf(text)?.name ?? shownName(text);
    this.#start(RESOURCES, 2 * textFieldLength(name));
    this.#text(RESOURCE_NAME, name);
    this.#text(RESOURCE_ALIASES, name);
  }

  /** A `Resource` without a body, at the version that the client holds: it may keep it for its ttl anew (S-TTL-09). */
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

  /** A name in `removed_resources`; what was told with constraints, or asked for with parameters, in `removed_resource_names` (S-LOC-06). */
  removed(name: string): void {
    const variant = this.#encodedName(name);
    if (variant === undefined) this.#text(REMOVED_RESOURCES, shownName(name));
    else this.#field(REMOVED_RESOURCE_NAMES, variant);
  }

  /** Why there is no resource of a name, in `resource_errors` (S-ERR-01). */
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

  /** An encoded `ResourceName`; undefined: the name says it all. */
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

  /** Few ttls are many resources'. */
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

/** Of a text that is left out when it is empty. */
function textFieldLength(text: string): number {
  return text === "" ? 0 : fieldLength(Buffer.byteLength(text));
}

/** Tag, length and content; the field number is below 16. */
function fieldLength(contentLength: number): number {
  return 1 + varintLength(contentLength) + contentLength;
}
