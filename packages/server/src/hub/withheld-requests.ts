import type { Node, TypeUrl } from "@xdskit/protocol";
import type { DiscoveryRequest, StreamId } from "@xdskit/protocol/internal";
import type { HeldBytes } from "./byte-budget.ts";
import type { MissingChange, MissingContent } from "./missing-resources.ts";
import { MissingResources } from "./missing-resources.ts";

/** Whether a client may have a resource of a layer. */
export type Sees = (layer: string, type: TypeUrl, name: string) => boolean;

interface Withheld {
  readonly request: DiscoveryRequest;
  readonly bytes: number;
}

/** What waits of one type of a stream, in order. */
interface WithheldOfType {
  readonly requests: Withheld[];
  /** The names for whose content it waits: all of them, or some, at most 100. */
  readonly names: Set<string>;
  /** Further names; undefined: there are none. */
  more: Iterator<string> | undefined;
}

/** A type of a stream that waits no longer. */
export interface ReleasedType {
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
/** When so few of the names are left, further ones are looked for. */
const NAMES_LEFT = NAMES_TOLD / 2;

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
  readonly #missing = new MissingResources();

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
    if (type === undefined || (this.#missing.isEmpty && this.#waiting.size === 0)) return request;
    const ofStream = this.#waiting.get(stream);
    const node = request.node ?? this.#nodeOf(stream);
    const view = (): Sees => this.#viewOf(stream, node);
    if (ofStream?.has(type) !== true && !this.#begins(stream, type, request, view)) {
      return request.node === node ? request : { ...request, node };
    }
    if (!this.#hold(stream, bytes)) return "full";
    const types = ofStream ?? new Map<TypeUrl, WithheldOfType>();
    const ofType = types.get(type) ?? { requests: [], names: new Set<string>(), more: undefined };
    ofType.requests.push({ request, bytes });
    // Only of the new request: a client may send any number of them.
    ofType.more ??= this.#missingNames(stream, type, ofType.requests, ofType.requests.length - 1);
    addNames(ofType);
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
      for (const ofType of types.values()) yield* waitingType(stream, ofType);
  }

  /** What is missing. */
  get missing(): Iterable<MissingContent> {
    return this.#missing;
  }

  /**
   * Changes what is missing. Takes out the requests that need not wait any longer for it, and returns the types that wait
   * for other names than before.
   */
  change(change: MissingChange): {
    readonly released: readonly ReleasedType[];
    readonly waiting: readonly WaitingType[];
  } {
    this.#missing.change(change);
    if (this.#missing.isEmpty) this.#asked.clear();
    const [added, removed] = [namesByType(change.added), namesByType(change.removed)];
    const [released, waiting]: [ReleasedType[], WaitingType[]] = [[], []];
    for (const [stream, types] of this.#waiting) {
      for (const [type, ofType] of types) {
        const twin = this.#twinOf(type) ?? type;
        const isOther = [type, twin].map((one) => takeNames(ofType.names, removed.get(one) ?? noNames)).includes(true);
        const isAdded = added.has(type) || added.has(twin);
        if (!isOther && !isAdded) continue;
        if (ofType.names.size < NAMES_LEFT) addNames(ofType);
        // A name that came may still be missing in another layer, or as its twin.
        if (ofType.more === undefined && (isAdded || ofType.names.size === 0)) this.#findNames(stream, type, ofType);
        if (ofType.names.size === 0) released.push(this.#takeOut(stream, types, type, ofType));
        else waiting.push(...waitingType(stream, ofType));
      }
      if (types.size === 0) this.#waiting.delete(stream);
    }
    return { released, waiting };
  }

  /** Takes out the requests that need not wait any longer, because of what is missing or what their clients may have. */
  release(): readonly ReleasedType[] {
    const released: ReleasedType[] = [];
    for (const [stream, types] of this.#waiting) {
      for (const [type, ofType] of types) {
        this.#findNames(stream, type, ofType);
        if (ofType.names.size === 0) released.push(this.#takeOut(stream, types, type, ofType));
      }
      if (types.size === 0) this.#waiting.delete(stream);
    }
    return released;
  }

  #findNames(stream: StreamId, type: TypeUrl, ofType: WithheldOfType): void {
    ofType.names.clear();
    ofType.more = this.#missingNames(stream, type, ofType.requests, 0);
    addNames(ofType);
  }

  /** What requests ask for that is missing when it is looked for, beginning with the request at `from`. */
  *#missingNames(
    stream: StreamId,
    type: TypeUrl,
    requests: readonly Withheld[],
    from: number,
  ): Generator<string, undefined> {
    const view = (): Sees => this.#viewOf(stream, this.#nodeOf(stream));
    // Requests may be added meanwhile.
    for (let index = from; index < requests.length; index++) {
      const request = requests[index]?.request;
      if (request !== undefined) yield* this.#missingIn(type, request, view, index === 0);
    }
  }

  #takeOut(
    stream: StreamId,
    types: Map<TypeUrl, WithheldOfType>,
    type: TypeUrl,
    { requests }: WithheldOfType,
  ): ReleasedType {
    types.delete(type);
    this.#release(stream, requests);
    return { stream, type, requests };
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
    return this.#missing.ofType(type) ?? (twin === undefined ? undefined : this.#missing.ofType(twin));
  }
}

const noNames: ReadonlySet<string> = new Set();

/** Adds further names, as many as are told. */
function addNames(ofType: WithheldOfType): void {
  while (ofType.more !== undefined && ofType.names.size < NAMES_TOLD) {
    const next = ofType.more.next();
    if (next.done === true) ofType.more = undefined;
    else ofType.names.add(next.value);
  }
}

/** Takes names that came out of others; returns whether there was one. */
function takeNames(names: Set<string>, came: ReadonlySet<string>): boolean {
  const before = names.size;
  if (came.size < before) for (const name of came) names.delete(name);
  else for (const name of names) if (came.has(name)) names.delete(name);
  return names.size < before;
}

function namesByType(missing: readonly MissingContent[]): ReadonlyMap<TypeUrl, ReadonlySet<string>> {
  const byType = new Map<TypeUrl, Set<string>>();
  for (const { type, name } of missing) byType.set(type, (byType.get(type) ?? new Set()).add(name));
  return byType;
}

/** What a type waits for, by its newest request. */
function waitingType(stream: StreamId, { requests, names }: WithheldOfType): readonly WaitingType[] {
  const newest = requests.at(-1);
  return newest === undefined ? [] : [{ stream, request: newest.request, missing: [...names] }];
}
