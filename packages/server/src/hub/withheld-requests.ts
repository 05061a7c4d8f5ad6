import type { Resource, TypeUrl } from "@xdskit/protocol";
import type { DiscoveryRequest, StreamId } from "@xdskit/protocol/internal";
import type { HeldBytes } from "./byte-budget.ts";

/** Names of resources that exist although their content is not at hand. */
export type MissingNames = ReadonlyMap<TypeUrl, ReadonlySet<string>>;

interface Withheld {
  readonly request: DiscoveryRequest;
  readonly bytes: number;
}

/**
 * Requests for resources that exist, but whose content is not at hand, such as Secrets after a restart. No answer would be
 * right: they are neither there nor gone. So the requests wait, their clients keep what they have, and other types of the
 * same stream are not affected. Once one request of a type waits on a stream, so do the later ones, in order.
 */
export class WithheldRequests {
  readonly #twinOf: (type: TypeUrl) => TypeUrl | undefined;
  readonly #open: (stream: StreamId) => HeldBytes;
  readonly #waiting = new Map<StreamId, Map<TypeUrl, Withheld[]>>();
  /** The types that a stream has asked for: a first request without names asks for all. */
  readonly #asked = new Map<StreamId, Set<TypeUrl>>();
  /** The bytes of the waiting requests of a stream. */
  readonly #held = new Map<StreamId, { readonly held: HeldBytes; bytes: number }>();
  #missing: MissingNames = new Map();

  /** `open` counts the bytes of a stream's waiting requests, from 0. */
  constructor(twinOf: (type: TypeUrl) => TypeUrl | undefined, open: (stream: StreamId) => HeldBytes) {
    this.#twinOf = twinOf;
    this.#open = open;
  }

  /** Whether a request of a stream waits. */
  isWaiting(stream: StreamId): boolean {
    return this.#waiting.has(stream);
  }

  /**
   * Takes in a request of a stream: returns it if it need not wait, with the node if the request that carried it waits;
   * `waits`, or `full` if too much does.
   */
  take(
    stream: StreamId,
    type: TypeUrl | undefined,
    request: DiscoveryRequest,
    bytes: number,
  ): DiscoveryRequest | "waits" | "full" {
    if (type === undefined || (this.#missing.size === 0 && this.#waiting.size === 0)) return request;
    const ofStream = this.#waiting.get(stream);
    if (ofStream?.has(type) !== true && !this.#begins(stream, type, request)) {
      const node = request.node ?? ofStream?.values().next().value?.[0]?.request.node;
      return request.node === node ? request : { ...request, node };
    }
    if (!this.#hold(stream, bytes)) return "full";
    const types = ofStream ?? new Map<TypeUrl, Withheld[]>();
    this.#waiting.set(stream, types.set(type, [...(types.get(type) ?? []), { request, bytes }]));
    return "waits";
  }

  /** Whether a type of a stream waits from this request on. */
  #begins(stream: StreamId, type: TypeUrl, request: DiscoveryRequest): boolean {
    const asked = this.#asked.get(stream) ?? new Set();
    const isFirst = !asked.has(type);
    this.#asked.set(stream, asked.add(type));
    return this.concerns(type, request, isFirst);
  }

  /** Whether anything of a type is missing. */
  isOfMissing(type: TypeUrl): boolean {
    return this.#namesOf(type) !== undefined;
  }

  /** Whether a request asks for what is missing, by name or with a wildcard. */
  concerns(type: TypeUrl, request: DiscoveryRequest, isFirst = true): boolean {
    const missing = this.#namesOf(type);
    if (missing === undefined) return false;
    const names = request.kind === "sotw" ? request.names : request.subscribe;
    if (names.length === 0) return isFirst;
    return names.some((name) => name.includes("*") || missing.has(name));
  }

  /** Replaces what is missing; returns the requests that need no longer wait, by stream. */
  setMissing(missing: MissingNames): readonly (readonly [stream: StreamId, requests: readonly Withheld[]])[] {
    this.#missing = missing;
    if (missing.size === 0) this.#asked.clear();
    const released: [StreamId, readonly Withheld[]][] = [];
    for (const [stream, types] of this.#waiting) {
      for (const [type, requests] of types) {
        if (requests.some(({ request }, index) => this.concerns(type, request, index === 0))) continue;
        types.delete(type);
        this.#release(stream, requests);
        released.push([stream, requests]);
      }
      if (types.size === 0) this.#waiting.delete(stream);
    }
    return released;
  }

  forget(stream: StreamId): void {
    for (const requests of this.#waiting.get(stream)?.values() ?? []) this.#release(stream, requests);
    this.#waiting.delete(stream);
    this.#asked.delete(stream);
  }

  /** Returns whether the client may hold so many bytes more. */
  #hold(stream: StreamId, bytes: number): boolean {
    const use = this.#held.get(stream) ?? { held: this.#open(stream), bytes: 0 };
    if (use.held.hold(use.bytes + bytes) !== undefined) return false;
    use.bytes += bytes;
    this.#held.set(stream, use);
    return true;
  }

  #release(stream: StreamId, requests: readonly Withheld[]): void {
    const use = this.#held.get(stream);
    if (use === undefined) return;
    for (const { bytes } of requests) use.bytes -= bytes;
    use.held.hold(use.bytes);
    if (use.bytes === 0) this.#held.delete(stream);
  }

  #namesOf(type: TypeUrl): ReadonlySet<string> | undefined {
    const twin = this.#twinOf(type);
    return this.#missing.get(type) ?? (twin === undefined ? undefined : this.#missing.get(twin));
  }
}

/** The missing names by type. */
export function namesByType(missing: Iterable<Pick<Resource, "type" | "name">>): MissingNames {
  const byType = new Map<TypeUrl, Set<string>>();
  for (const { type, name } of missing) byType.set(type, (byType.get(type) ?? new Set()).add(name));
  return byType;
}
