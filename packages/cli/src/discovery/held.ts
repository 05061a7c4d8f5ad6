import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";

/** A resource as it was received. */
export interface ReceivedResource {
  readonly name: string;
  /** Of the resource in delta, of its type in State of the World. */
  readonly version: string;
  readonly type: TypeUrl;
  readonly bytes: Uint8Array;
}

/** One response, however it came. */
export interface ResponseContent {
  readonly version: string;
  readonly nonce: string;
  readonly puts: readonly ReceivedResource[];
  /** Undefined in State of the World: what a response leaves out is gone, or nothing is said of it, as the type has it. */
  readonly removed: readonly string[] | undefined;
}

/** One response, and what it changed. */
export interface Answer {
  readonly version: string;
  readonly nonce: string;
  readonly puts: readonly ReceivedResource[];
  readonly removed: readonly string[];
  /** Of those removed, what was not held before: it was asked for, and is not there. */
  readonly absent: readonly string[];
}

/** What a client holds of one type, kept from its responses. */
export class HeldResources {
  /** A response in State of the World lists everything: what is not in it is gone. */
  readonly #isFullState: boolean;
  readonly #versions = new Map<string, string>();
  #version = "";

  constructor(api: EnvoyApi, type: TypeUrl) {
    this.#isFullState = api.traits(type)?.isFullState ?? false;
  }

  /** Names and versions, for a stream that starts where another ended. */
  get versions(): ReadonlyMap<string, string> {
    return this.#versions;
  }

  /** Of the newest response; empty before any. */
  get version(): string {
    return this.#version;
  }

  take({ version, nonce, puts, removed: told }: ResponseContent): Answer {
    const removed = told ?? this.#leftOut(puts);
    const absent = removed.filter((name) => !this.#versions.has(name));
    for (const { name, version: own } of puts) this.#versions.set(name, own);
    for (const name of removed) this.#versions.delete(name);
    this.#version = version;
    return { version, nonce, puts, removed, absent };
  }

  #leftOut(puts: readonly ReceivedResource[]): readonly string[] {
    if (!this.#isFullState) return [];
    const names = new Set(puts.map(({ name }) => name));
    return [...this.#versions.keys()].filter((name) => !names.has(name));
  }
}
