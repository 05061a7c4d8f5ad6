import type { Node } from "../node/node.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Status } from "./status.ts";

/** What both kinds of request carry. Empty strings of the wire are `undefined` here. */
interface RequestCommon {
  readonly type: TypeUrl | undefined;
  /** Set on every request that carries one; the same object again when its bytes are those of the request before. */
  readonly node: Node | undefined;
  readonly nonce: string | undefined;
  /** Its presence makes the request a NACK, whatever it says (S-ACK-05). */
  readonly error: Status | undefined;
  /** Some of its names came with parameters, be it with none: the client is to be told of constraints (C-LOC-02). */
  readonly hasLocators?: true;
}

/** A `DiscoveryRequest`. */
export interface SotwRequest extends RequestCommon {
  readonly kind: "sotw";
  readonly versionInfo: string | undefined;
  /** Those with parameters as `locatedTerm` writes them. The same array again when its bytes are those of this type's request before on the stream. */
  readonly names: readonly string[];
}

/** A `DeltaDiscoveryRequest`. */
export interface DeltaRequest extends RequestCommon {
  readonly kind: "delta";
  /** Those with parameters as `locatedTerm` writes them, here and in `unsubscribe`. */
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  readonly initialVersions: InitialVersions;
}

export type DiscoveryRequest = SotwRequest | DeltaRequest;

/**
 * The `initial_resource_versions` of a delta request: pairs of name and version, read from the wire as they are walked,
 * because a reconnecting client may list 100,000 of them.
 */
export interface InitialVersions extends Iterable<readonly [name: string, version: string]> {
  readonly size: number;
  /** Equal for requests with equal bytes, so that their answers can be shared; undefined if unknown. */
  readonly key: string | undefined;
}

/** No versions: a stream that starts afresh. */
export const noInitialVersions: InitialVersions = { size: 0, key: "", [Symbol.iterator]: () => [][Symbol.iterator]() };
