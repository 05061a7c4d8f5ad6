import type { Node, TypeUrl } from "@xdskit/protocol";
import type { DiscoveryRequest, StreamId } from "@xdskit/protocol/internal";
import type { HeldBytes } from "./byte-budget.ts";

/** Resources that exist although their content is not at hand: their layers, by type and name. */
export type MissingNames = ReadonlyMap<TypeUrl, ReadonlyMap<string, ReadonlySet<string>>>;

/** Whether a client may have a resource of a layer. */
export type Sees = (layer: string, type: TypeUrl, name: string) => boolean;

interface Withheld {
  readonly request: DiscoveryRequest;
  readonly bytes: number;
}

/** What waits of one type of a stream, in order. */
interface WithheldOfType {
  readonly requests: Withheld[];
  /** The names for whose content it waits, at most 100. */
  names: Set<string>;
}

interface ReleasedType {
  readonly stream: StreamId;
  readonly type: TypeUrl;
  readonly requests: readonly Withheld[];
}

/** A type of a stream that waits. */
export interface WaitingType {
  readonly stream: StreamId;
  readonly request: DiscoveryRequest;
  /** The names whose content is missing, at most 100. */
  readonly missing: readonly string[];
}

/** How many names are told of each type that waits. */
const NAMES_TOLD = 100;

export interface WithheldRequestsOptions {
  /** The same type in the other API version. */
  readonly twinOf: (type: TypeUrl) => TypeUrl | undefined;
  /** Counts the bytes of a stream's waiting requests, from 0. */
  readonly open: (stream: StreamId) => HeldBytes;
  /** What the client of a stream may have; with the node that its requests name, if one of those here does. */
  readonly viewOf: (stream: StreamId, node: Node | undefined) => Sees;
}

/**
 * Requests for resources that exist, but whose content is not at hand, such as Secrets after a restart. No answer would be
 * right: they are neither there nor gone. So the requests wait, their clients keep what they have, and other types of the
 * same stream are not affected. Once one request of a type waits on a stream, so do the later ones, in order. What a
 * client may not have does not exist for it, with its content or without.
 */
export class WithheldRequests {
  readonly #twinOf: (type: TypeUrl) => TypeUrl | undefined;
  readonly #open: (stream: StreamId) => HeldBytes;
  readonly #viewOf: (stream: StreamId, node: Node | undefined) => Sees;
  readonly #waiting = new Map<StreamId, Map<TypeUrl, WithheldOfType>>();
  /** The types that a stream has asked for: a first request without names asks for all. */
  readonly #asked = new Map<StreamId, Set<TypeUrl>>();
  /** The bytes of the waiting requests of a stream. */
  readonly #held = new Map<StreamId, { readonly held: HeldBytes; bytes: number }>();
  #missing: MissingNames = new Map();

  constructor(options: WithheldRequestsOptions) {
    this.#twinOf = options.twinOf;
    this.#open = options.open;
    this.#viewOf = options.viewOf;
  }

  /** Whether a request of a stream waits. */
  isWaiting(stream: StreamId): boolean {
    return this.#waiting.has(stream);
  }

  /**
   * Takes in a request of a stream: returns it if it need not wait, with the node if the request that carried it waits;
   * what waits of its type, or `full` if too much does.
   */
  take(
    stream: StreamId,
    type: TypeUrl | undefined,
    request: DiscoveryRequest,
    bytes: number,
  ): DiscoveryRequest | WaitingType | "full" {
    if (type === undefined || (this.#missing.size === 0 && this.#waiting.size === 0)) return request;
    const ofStream = this.#waiting.get(stream);
    const node = request.node ?? this.#nodeOf(stream);
    const view = (): Sees => this.#viewOf(stream, node);
    if (ofStream?.has(type) !== true && !this.#begins(stream, type, request, view)) {
      return request.node === node ? request : { ...request, node };
    }
    if (!this.#hold(stream, bytes)) return "full";
    const types = ofStream ?? new Map<TypeUrl, WithheldOfType>();
    const ofType = types.get(type) ?? { requests: [], names: new Set<string>() };
    ofType.requests.push({ request, bytes });
    // Only of the new request: a client may send any number of them.
    addNames(ofType.names, this.#missingIn(type, request, view, ofType.requests.length === 1));
    this.#waiting.set(stream, types.set(type, ofType));
    return { stream, request, missing: [...ofType.names] };
  }

  /** Whether a type of a stream waits from this request on. */
  #begins(stream: StreamId, type: TypeUrl, request: DiscoveryRequest, view: () => Sees): boolean {
    const asked = this.#asked.get(stream) ?? new Set();
    const isFirst = !asked.has(type);
    this.#asked.set(stream, asked.add(type));
    return this.concerns(type, request, view, isFirst);
  }

  /** The node of the first request that waits. */
  #nodeOf(stream: StreamId): Node | undefined {
    return this.#waiting.get(stream)?.values().next().value?.requests[0]?.request.node;
  }

  /**
   * Whether a request asks for what is missing, and the client may have, by name or with a wildcard. `view`: what that is;
   * not called if nothing of the type is missing.
   */
  concerns(type: TypeUrl, request: DiscoveryRequest, view: () => Sees, isFirst = true): boolean {
    return this.#missingIn(type, request, view, isFirst).next().done !== true;
  }

  /** What a request asks for that is missing, and the client may have. */
  *#missingIn(type: TypeUrl, request: DiscoveryRequest, view: () => Sees, isFirst: boolean): Generator<string> {
    const missing = this.#namesOf(type);
    if (missing === undefined) return;
    const sees = view();
    const isMissing = (name: string): boolean => {
      for (const layer of missing.get(name) ?? []) if (sees(layer, type, name)) return true;
      return false;
    };
    const names = request.kind === "sotw" ? request.names : request.subscribe;
    const isForAll = names.length === 0 ? isFirst : names.some((name) => name.includes("*"));
    for (const name of isForAll ? missing.keys() : names) if (isMissing(name)) yield name;
  }

  /** What waits: the newest request of each type of each stream. */
  *waiting(): Iterable<WaitingType> {
    for (const [stream, types] of this.#waiting)
      for (const { requests, names } of types.values()) {
        const newest = requests.at(-1);
        if (newest !== undefined) yield { stream, request: newest.request, missing: [...names] };
      }
  }

  /** Replaces what is missing. */
  setMissing(missing: MissingNames): void {
    this.#missing = missing;
    if (missing.size === 0) this.#asked.clear();
  }

  /** Takes out the requests that need not wait any longer, because of what is missing or what their clients may have. */
  release(): readonly ReleasedType[] {
    const released: ReleasedType[] = [];
    for (const [stream, types] of this.#waiting) {
      const sees = this.#viewOf(stream, this.#nodeOf(stream));
      for (const [type, ofType] of types) {
        const { requests } = ofType;
        ofType.names = new Set();
        for (const [index, { request }] of requests.entries())
          addNames(
            ofType.names,
            this.#missingIn(type, request, () => sees, index === 0),
          );
        if (ofType.names.size > 0) continue;
        types.delete(type);
        this.#release(stream, requests);
        released.push({ stream, type, requests });
      }
      if (types.size === 0) this.#waiting.delete(stream);
    }
    return released;
  }

  forget(stream: StreamId): void {
    for (const { requests } of this.#waiting.get(stream)?.values() ?? []) this.#release(stream, requests);
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

  #namesOf(type: TypeUrl): ReadonlyMap<string, ReadonlySet<string>> | undefined {
    const twin = this.#twinOf(type);
    return this.#missing.get(type) ?? (twin === undefined ? undefined : this.#missing.get(twin));
  }
}

/** Adds names, as many as are told. */
function addNames(names: Set<string>, more: Iterable<string>): void {
  for (const name of more) {
    if (names.size === NAMES_TOLD) return;
    names.add(name);
  }
}

interface MissingResource {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly name: string;
}

/** The layers of missing resources, by type and name. */
export function missingNames(missing: Iterable<MissingResource>): MissingNames {
  const byType = new Map<TypeUrl, Map<string, Set<string>>>();
  for (const { layer, type, name } of missing) {
    const byName = byType.get(type) ?? new Map<string, Set<string>>();
    byType.set(type, byName.set(name, (byName.get(name) ?? new Set()).add(layer)));
  }
  return byType;
}
