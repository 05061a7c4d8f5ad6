import type { Resource, TypeUrl, Variant } from "@xdskit/protocol";
import {
  type DeltaRequest,
  type DiscoveryRequest,
  type InitialVersions,
  noInitialVersions,
  type ServerEffect,
  type SotwRequest,
  statusCode,
} from "@xdskit/protocol/internal";

type Send = Extract<ServerEffect, { kind: "send" }>;

/** One type, as a client sees it. */
interface Held {
  names: Set<string>;
  isWildcard: boolean;
  readonly resources: Map<string, Resource>;
  /** Why it was not given a name, by what it was told last. */
  readonly errors: Map<string, Resource>;
  /** Names whose error came in a response that was refused: it is not told again. */
  readonly refusedErrors: Set<string>;
  /** Names whose newest mention was refused, so that what is held of them is the client's own affair. */
  readonly refused: Set<string>;
  versionInfo: string;
  nonce: string | undefined;
  isOpen: boolean;
  /** It asked for everything by naming nothing, and has named nothing since. */
  hasNamedNothing: boolean;
}

/** How a client may ask for everything. */
export interface Opening {
  /** By naming nothing at first; else it names `*`. */
  readonly meansAll: (type: TypeUrl) => boolean;
  /** Who named nothing gets everything as long as the stream lives: there is no use in naming anything. */
  readonly isForGood: boolean;
}

export interface Interest {
  readonly type: TypeUrl;
  readonly isWildcard: boolean;
  readonly names: readonly string[];
  readonly isFullState: boolean;
}

/** The simplest client that obeys the protocol: what it holds, what it asked for, and two queues. */
export class ModelClient {
  readonly variant: Variant;
  readonly inbox: Send[] = [];
  readonly outbox: DiscoveryRequest[] = [];
  readonly complaints: string[] = [];
  readonly #opening: Opening;
  readonly #types: ReadonlyMap<TypeUrl, Held>;
  readonly #fullState: ReadonlySet<TypeUrl>;

  constructor(variant: Variant, interests: readonly Interest[], opening: Opening) {
    this.variant = variant;
    this.#opening = opening;
    this.#fullState = new Set(interests.filter((one) => one.isFullState).map((one) => one.type));
    this.#types = new Map(
      interests.map(({ type, isWildcard, names }) => [
        type,
        {
          names: new Set(names),
          isWildcard,
          resources: new Map(),
          errors: new Map(),
          refusedErrors: new Set(),
          refused: new Set(),
          versionInfo: "",
          nonce: undefined,
          isOpen: false,
          hasNamedNothing: false,
        },
      ]),
    );
  }

  get types(): ReadonlyMap<TypeUrl, Readonly<Held>> {
    return this.#types;
  }

  /** A new stream: everything that is wanted is asked for, with what is held. Of `lies` it lists a version that nobody has, first. */
  connect(lies: readonly string[] = []): void {
    this.inbox.length = 0;
    this.outbox.length = 0;
    for (const [type, held] of this.#types) {
      held.nonce = undefined;
      held.errors.clear();
      held.refusedErrors.clear();
      held.isOpen = held.isWildcard || held.names.size > 0;
      if (held.isOpen) this.#askAll(type, held, lies);
    }
  }

  /** Asks for one more name, or for it again. */
  subscribe(type: TypeUrl, name: string): void {
    const held = this.#held(type);
    if ((this.variant === "sotw" && held.names.has(name)) || this.#getsAll(held)) return;
    held.names.add(name);
    if (!held.isOpen) {
      this.#openWith(type, held);
      return;
    }
    held.hasNamedNothing = false;
    if (this.variant === "delta") this.outbox.push(delta(type, { subscribe: [name] }));
    else this.#listAll(type, held);
  }

  unsubscribe(type: TypeUrl, name: string): void {
    const held = this.#held(type);
    if (!held.names.delete(name) || !held.isOpen) return;
    this.#dropUnwanted(held);
    if (this.variant === "delta") this.outbox.push(delta(type, { unsubscribe: [name] }));
    else this.#listAll(type, held);
  }

  joinWildcard(type: TypeUrl): void {
    const held = this.#held(type);
    if (held.isWildcard) return;
    held.isWildcard = true;
    if (!held.isOpen) {
      this.#openWith(type, held);
      return;
    }
    if (this.variant === "delta") this.outbox.push(delta(type, { subscribe: ["*"] }));
    else this.#listAll(type, held);
  }

  leaveWildcard(type: TypeUrl): void {
    const held = this.#held(type);
    if (!held.isWildcard || !held.isOpen || this.#getsAll(held)) return;
    // Who has named nothing yet says nothing new by naming nothing.
    if (this.variant === "sotw" && held.hasNamedNothing) return;
    held.isWildcard = false;
    held.hasNamedNothing = false;
    this.#dropUnwanted(held);
    if (this.variant === "delta") this.outbox.push(delta(type, { unsubscribe: ["*"] }));
    else this.#listAll(type, held);
  }

  /** A response is on its way. */
  hear(send: Send): void {
    this.inbox.push(send);
  }

  /** Takes the next response, or refuses it. */
  answer(isAccepted: boolean): void {
    const send = this.inbox.shift();
    if (send === undefined) return;
    const { body, nonce } = send;
    const held = this.#held(body.type);
    const puts = body.segments.flatMap((segment) => [...segment.puts]);
    const removed = body.segments.flatMap((segment) => [...segment.removed, ...segment.missing]);
    const errors = body.segments.flatMap((segment) => [...(segment.errors ?? [])]);
    this.#checkDuplicates([...puts.map((put) => put.name), ...removed], body.type);
    this.#checkDuplicates(
      [...puts, ...errors].map((one) => one.name),
      body.type,
    );
    held.nonce = nonce;
    if (isAccepted) {
      this.#accept(body.type, held, puts, removed, body.version);
      this.#acceptErrors(held, errors);
    } else {
      const named = [...puts, ...errors].map((one) => one.name);
      for (const name of [...held.resources.keys(), ...named, ...removed]) held.refused.add(name);
      for (const { name } of errors) held.refusedErrors.add(name);
    }
    const error = isAccepted ? undefined : { code: 13, message: "no" };
    if (this.variant === "delta") this.outbox.push(delta(body.type, { nonce, error }));
    else this.outbox.push(this.#sotw(body.type, held, nonce, error));
  }

  #accept(type: TypeUrl, held: Held, puts: readonly Resource[], removed: readonly string[], version: string): void {
    if (this.variant === "sotw" && this.#fullState.has(type)) {
      held.resources.clear();
      held.refused.clear();
    }
    held.versionInfo = version;
    for (const put of puts) {
      held.refused.delete(put.name);
      held.errors.delete(put.name);
      if (this.#wants(held, put)) held.resources.set(put.name, put);
    }
    for (const name of removed) {
      held.refused.delete(name);
      held.errors.delete(name);
      held.resources.delete(name);
    }
  }

  /** A client that knows the field keeps what it has unless it may not have it. */
  #acceptErrors(held: Held, errors: readonly Resource[]): void {
    for (const one of errors) {
      held.refused.delete(one.name);
      held.refusedErrors.delete(one.name);
      held.errors.set(one.name, one);
      if (one.error?.code === statusCode.PERMISSION_DENIED) held.resources.delete(one.name);
    }
  }

  #checkDuplicates(names: readonly string[], type: TypeUrl): void {
    if (new Set(names).size !== names.length) this.complaints.push(`${type} names something twice: ${names.join()}`);
  }

  #askAll(type: TypeUrl, held: Held, lies: readonly string[] = []): void {
    held.hasNamedNothing = held.isWildcard && held.names.size === 0 && this.#opening.meansAll(type);
    if (this.variant === "sotw") {
      this.outbox.push({ ...this.#sotw(type, held, undefined, undefined), names: listOf(held) });
      return;
    }
    this.outbox.push(delta(type, { subscribe: listOf(held), initialVersions: versionsOf(held, lies) }));
  }

  #getsAll(held: Held): boolean {
    return held.hasNamedNothing && this.#opening.isForGood;
  }

  #openWith(type: TypeUrl, held: Held): void {
    held.isOpen = true;
    this.#askAll(type, held);
  }

  #listAll(type: TypeUrl, held: Held): void {
    this.outbox.push(this.#sotw(type, held, held.nonce, undefined));
  }

  #sotw(type: TypeUrl, held: Held, nonce: string | undefined, error: SotwRequest["error"]): SotwRequest {
    const versionInfo = held.versionInfo === "" ? undefined : held.versionInfo;
    return { kind: "sotw", type, node: undefined, nonce, error, versionInfo, names: listOf(held) };
  }

  /**
   * Under a wildcard a name that was given up may still be covered: in delta the server says whether it is. In State of the
   * World nobody says, so this client looks whether the resource comes on demand only.
   */
  #wants(held: Held, { name, aliases, onDemand }: Resource): boolean {
    const isCovered = held.isWildcard && !(this.variant === "sotw" && onDemand);
    return isCovered || held.names.has(name) || aliases.some((alias) => held.names.has(alias));
  }

  #dropUnwanted(held: Held): void {
    for (const one of [...held.resources.values()]) if (!this.#wants(held, one)) held.resources.delete(one.name);
    for (const name of held.errors.keys()) if (!held.isWildcard && !held.names.has(name)) held.errors.delete(name);
    for (const name of held.refused) if (!held.isWildcard && !held.names.has(name)) held.refused.delete(name);
  }

  #held(type: TypeUrl): Held {
    const held = this.#types.get(type);
    if (held === undefined) throw new Error(`the model client does not know ${type}`);
    return held;
  }
}

function listOf(held: Held): readonly string[] {
  if (held.hasNamedNothing) return [];
  return held.isWildcard ? ["*", ...held.names] : [...held.names];
}

function versionsOf(held: Held, lies: readonly string[]): InitialVersions {
  const versions = [...held.resources.values()].map((one) => [one.name, one.version] as const);
  return initialVersionsOf([...lies.map((name) => [name, "a lie"] as const), ...versions]);
}

/** The versions that a client brings along. */
export function initialVersionsOf(pairs: readonly (readonly [name: string, version: string])[]): InitialVersions {
  return { size: pairs.length, key: undefined, [Symbol.iterator]: () => pairs[Symbol.iterator]() };
}

/** A delta request with nothing in it but what is given. */
export function delta(type: TypeUrl, what: Partial<DeltaRequest>): DeltaRequest {
  return {
    kind: "delta",
    type,
    node: undefined,
    nonce: undefined,
    error: undefined,
    subscribe: [],
    unsubscribe: [],
    initialVersions: noInitialVersions,
    ...what,
  };
}
