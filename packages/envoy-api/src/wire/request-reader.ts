/**
 * Decodes the requests of a stream, v2 and v3 alike. One reader per stream, so that what a client repeats in every
 * request, its node and its names, is not decoded twice. A locator without parameters equals its name (B-LOC-11).
 */
import type { Status, Variant } from "@xdskit/protocol";
import {
  type DeltaRequest,
  type DiscoveryRequest,
  noInitialVersions,
  type SotwRequest,
  type Steps,
} from "@xdskit/protocol/internal";
import { checkVersionEntry, EncodedVersions, findPlainEntries, VERSION_ENTRY } from "./initial-versions.ts";
import { MAX_NODE_BYTES, NodeMemory } from "./node.ts";
import { lengthTag, WireReader } from "./reader.ts";
import { MAX_NAMES, NameRanges, RESOURCE_LOCATORS, RESOURCE_NAMES, RequestedNames } from "./requested-names.ts";
import { parseRequestedType } from "./requested-type.ts";
import { readLocator } from "./resource-name.ts";
import { readPrintableStatus } from "./status.ts";
import { WireError } from "./wire-error.ts";

/** Reads the requests of one stream, in order of arrival. */
export interface RequestReader {
  /**
   * Decodes a `DiscoveryRequest` or `DeltaDiscoveryRequest`. The request's `initialVersions` is a view of the bytes,
   * which must not change while it is held; the rest is copied.
   *
   * @throws {WireError} if the bytes are not such a request; nothing of them is kept then
   */
  read(message: Uint8Array): DiscoveryRequest;

  /** As `read`, some fields at a time, for a large message. */
  readInSteps(message: Uint8Array): Steps<DiscoveryRequest>;
}

/** How many fields of a message are one step: a single one costs less than the step itself. */
const FIELDS_PER_STEP = 8;
/** So many listed versions are read as one field. */
const VERSIONS_AT_ONCE = 64;

/**
 * Creates a reader for a stream of this variant. It throws a `NodeSizeError` for a node of more than `maxNodeBytes`.
 */
export function createRequestReader(variant: Variant, maxNodeBytes: number = MAX_NODE_BYTES): RequestReader {
  const node = new NodeMemory(maxNodeBytes);
  return variant === "sotw" ? new SotwRequestReader(node) : new DeltaRequestReader(node);
}

class SotwRequestReader implements RequestReader {
  readonly #node: NodeMemory;
  readonly #names = new RequestedNames();

  constructor(node: NodeMemory) {
    this.#node = node;
  }

  read(message: Uint8Array): SotwRequest {
    const reader = new WireReader(message);
    let versionInfo: string | undefined;
    let nodeBytes: Uint8Array | undefined;
    const ranges = new NameRanges();
    let typeText = "";
    let nonce: string | undefined;
    let error: Status | undefined;
    while (reader.hasMore) {
      const start = reader.position;
      const tag = reader.tag();
      switch (tag) {
        case lengthTag(1):
          versionInfo = present(reader.string());
          break;
        case lengthTag(2):
          nodeBytes = reader.bytes();
          break;
        case RESOURCE_LOCATORS:
          readLocator(reader.message()); // so that what is malformed is refused even if it is not read again
          ranges.hasLocators = true;
          ranges.add(start, reader.position);
          break;
        case RESOURCE_NAMES:
          reader.skip(tag);
          ranges.add(start, reader.position);
          break;
        case lengthTag(4):
          typeText = reader.string();
          break;
        case lengthTag(5):
          nonce = present(reader.string());
          break;
        case lengthTag(6):
          error = readPrintableStatus(reader.message());
          break;
        default:
          reader.skip(tag);
      }
    }
    const node = nodeBytes === undefined ? undefined : this.#node.read(nodeBytes);
    const { type, names } = this.#names.read(typeText, message, ranges);
    const common = { kind: "sotw", type, node, nonce, error, versionInfo, names } as const;
    return ranges.hasLocators ? { ...common, hasLocators: true } : common;
  }

  /** One step: the names that a client repeats in every request are decoded once, as a whole. */
  *readInSteps(message: Uint8Array): Steps<SotwRequest> {
    const request = this.read(message);
    yield;
    return request;
  }
}

class DeltaRequestReader implements RequestReader {
  readonly #node: NodeMemory;

  constructor(node: NodeMemory) {
    this.#node = node;
  }

  read(message: Uint8Array): DeltaRequest {
    const fields = new DeltaFields(message);
    while (fields.hasMore) fields.next();
    return fields.request(this.#node);
  }

  *readInSteps(message: Uint8Array): Steps<DeltaRequest> {
    const fields = new DeltaFields(message, new Set());
    for (let read = 1; fields.hasMore; read++) {
      if (read % FIELDS_PER_STEP === 0) yield;
      fields.next();
    }
    return fields.request(this.#node);
  }
}

/** The fields of one message, as far as they were read. */
class DeltaFields {
  readonly #message: Uint8Array;
  readonly #reader: WireReader;
  /** Takes each name that is subscribed to. */
  readonly #distinct: Set<string> | undefined;
  readonly #subscribe: string[] = [];
  readonly #unsubscribe: string[] = [];
  readonly #versions = { start: 0, end: 0, size: 0 };
  #nodeBytes: Uint8Array | undefined;
  #typeText = "";
  #nonce: string | undefined;
  #error: Status | undefined;
  #hasLocators = false;

  constructor(message: Uint8Array, distinct?: Set<string>) {
    this.#message = message;
    this.#reader = new WireReader(message);
    this.#distinct = distinct;
  }

  get hasMore(): boolean {
    return this.#reader.hasMore;
  }

  /** Reads one field, or several listed versions. */
  next(): void {
    const reader = this.#reader;
    const start = reader.position;
    const { count, end } = findPlainEntries(this.#message, start, VERSIONS_AT_ONCE);
    if (count > 0) {
      this.#countVersions(start, end, count);
      reader.goTo(end);
      return;
    }
    const tag = reader.tag();
    switch (tag) {
      case lengthTag(1):
        this.#nodeBytes = reader.bytes();
        break;
      case lengthTag(2):
        this.#typeText = reader.string();
        break;
      case lengthTag(3):
        addName(this.#subscribe, reader.string(), this.#distinct);
        break;
      case lengthTag(4):
        addName(this.#unsubscribe, reader.string());
        break;
      case VERSION_ENTRY:
        checkVersionEntry(reader.message());
        this.#countVersions(start, reader.position, 1);
        break;
      case lengthTag(6):
        this.#nonce = present(reader.string());
        break;
      case lengthTag(7):
        this.#error = readPrintableStatus(reader.message());
        break;
      case lengthTag(8):
        addName(this.#subscribe, readLocator(reader.message()), this.#distinct);
        this.#hasLocators = true;
        break;
      case lengthTag(9):
        addName(this.#unsubscribe, readLocator(reader.message()));
        this.#hasLocators = true;
        break;
      default:
        reader.skip(tag);
    }
  }

  #countVersions(start: number, end: number, count: number): void {
    if (this.#versions.size === 0) this.#versions.start = start;
    this.#versions.end = end;
    this.#versions.size += count;
  }

  /** The request, once all fields were read. */
  request(memory: NodeMemory): DeltaRequest {
    const { start, end, size } = this.#versions;
    const request: DeltaRequest = {
      kind: "delta",
      type: parseRequestedType(this.#typeText),
      node: this.#nodeBytes === undefined ? undefined : memory.read(this.#nodeBytes),
      nonce: this.#nonce,
      error: this.#error,
      subscribe: this.#subscribe,
      unsubscribe: this.#unsubscribe,
      initialVersions:
        size === 0
          ? noInitialVersions
          : new EncodedVersions(this.#message.subarray(start, end), size, this.#message.byteLength),
    };
    const named = this.#distinct === undefined ? request : { ...request, distinct: this.#distinct };
    return this.#hasLocators ? { ...named, hasLocators: true } : named;
  }
}

function addName(names: string[], name: string, distinct?: Set<string>): void {
  if (names.length >= MAX_NAMES) throw new WireError(`more than ${MAX_NAMES} names in one request`);
  names.push(name);
  distinct?.add(name);
}

/** Protobuf does not distinguish an absent string from an empty one; both are undefined. */
function present(text: string): string | undefined {
  return text === "" ? undefined : text;
}
