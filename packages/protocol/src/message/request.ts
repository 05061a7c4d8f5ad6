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

/**
 * The `initial_resource_versions` of a delta request: pairs of name and version, decoded lazily during iteration,
 * because a reconnecting client may list 100,000 of them.
 */
export interface InitialVersions extends Iterable<readonly [name: string, version: string]> {
  readonly size: number;
  /** Equal for requests with equal bytes, so that streams can share the response; undefined if unknown. */
  readonly key: string | undefined;
  /** The bytes that are kept until the versions are dropped; undefined: they were not received. */
  readonly byteLength?: number;
}

/** The empty map, for a stream that starts afresh. */
export const noInitialVersions: InitialVersions = { size: 0, key: "", [Symbol.iterator]: () => [][Symbol.iterator]() };
