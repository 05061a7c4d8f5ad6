import type { Node } from "../node/node.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Status } from "./status.ts";

/** Fields of both kinds of request. Empty strings on the wire are `undefined` here. */
interface RequestCommon {
  readonly type: TypeUrl | undefined;
  /**
   * Set on every request that carries a node; the same object again when its bytes equal those of the previous request.
   */
  readonly node: Node | undefined;
  readonly nonce: string | undefined;
  /** If set, the request is a NACK, whatever the status says (S-ACK-05). */
  readonly error: Status | undefined;
  /**
   * Some names came as locators with dynamic parameters, possibly empty, so the client understands constraints
   * (C-LOC-02).
   */
  readonly hasLocators?: true;
}

/** A decoded `DiscoveryRequest`. */
export interface SotwRequest extends RequestCommon {
  readonly kind: "sotw";
  readonly versionInfo: string | undefined;
  /**
   * Names with parameters are in the form of `locatedTerm`. The same array again when its bytes equal those of the
   * previous request of this type on the stream.
   */
  readonly names: readonly string[];
}

/** A decoded `DeltaDiscoveryRequest`. */
export interface DeltaRequest extends RequestCommon {
  readonly kind: "delta";
  /** Names with parameters are in the form of `locatedTerm`, here and in `unsubscribe`. */
  readonly subscribe: readonly string[];
  /** The names of `subscribe`, each once, of a request with so many that making the set takes long; it never changes. */
  readonly distinct?: ReadonlySet<string>;
  readonly unsubscribe: readonly string[];
  readonly initialVersions: InitialVersions;
}

export type DiscoveryRequest = SotwRequest | DeltaRequest;

/** What a client holds. */
export type ListedVersion = readonly [name: string, version: string];

/** Reads listed versions one after another. */
export interface VersionCursor {
  /** Goes to the next pair; false: there is none. */
  next(): boolean;
  /** The number of the present pair, which every list with the same numbering has for it; -1: it has none. */
  readonly number: number;
  /** The present pair, decoded. */
  readonly pair: ListedVersion;
}

/** Listed versions whose pairs have numbers, by which what was found out about one need not be found out again. */
export interface NumberedVersions {
  /** Whose numbers they are. They mean nothing once nobody holds it. */
  readonly numbering: object;
  read(): VersionCursor;
}

/**
 * The `initial_resource_versions` of a delta request: pairs of name and version, decoded lazily during iteration,
 * because a reconnecting client may list 100,000 of them.
 */
export interface InitialVersions extends Iterable<ListedVersion> {
  readonly size: number;
  /** Equal for requests with equal bytes, so that streams can share the response; undefined if unknown. */
  readonly key: string | undefined;
  /** The bytes that are kept until the versions are dropped; undefined: they were not received. */
  readonly byteLength?: number;
  /** Undefined: the pairs have no numbers. */
  readonly numbered?: NumberedVersions | undefined;
}

/** The empty map, for a stream that starts afresh. */
export const noInitialVersions: InitialVersions = { size: 0, key: "", [Symbol.iterator]: () => [][Symbol.iterator]() };
