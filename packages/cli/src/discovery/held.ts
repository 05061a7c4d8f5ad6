import { decodeDeltaResponse, decodeSotwResponse, type EnvoyApi, type ResourceMessage } from "@xdskit/envoy-api";
import { parseTypeUrl, type TypeUrl, type Variant } from "@xdskit/protocol";

/** A resource as it was received. */
export interface ReceivedResource {
  readonly name: string;
  /** Of the resource in delta, of its type in State of the World. */
  readonly version: string;
  readonly type: TypeUrl;
  readonly bytes: Uint8Array;
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
  readonly #api: EnvoyApi;
  readonly #variant: Variant;
  /** A response in State of the World lists everything: what is not in it is gone. */
  readonly #isFullState: boolean;
  readonly #versions = new Map<string, string>();

  constructor(api: EnvoyApi, type: TypeUrl, variant: Variant) {
    this.#api = api;
    this.#variant = variant;
    this.#isFullState = api.traits(type)?.isFullState ?? false;
  }

  /** Names and versions, for a stream that starts where another ended. */
  get versions(): ReadonlyMap<string, string> {
    return this.#versions;
  }

  /** Takes a response. Throws a `WireError` on bytes that are none. */
  take(message: Uint8Array): Answer {
    const read = this.#variant === "delta" ? this.#takeDelta(message) : this.#takeSotw(message);
    const answer = { ...read, absent: read.removed.filter((name) => !this.#versions.has(name)) };
    for (const { name, version } of answer.puts) this.#versions.set(name, version);
    for (const name of answer.removed) this.#versions.delete(name);
    return answer;
  }

  #takeDelta(message: Uint8Array): Omit<Answer, "absent"> {
    const response = decodeDeltaResponse(message);
    const { systemVersionInfo: version, nonce, resources } = response;
    return { version, nonce, puts: resources.flatMap(receivedOf), removed: response.removedResources };
  }

  #takeSotw(message: Uint8Array): Omit<Answer, "absent"> {
    const { versionInfo: version, nonce, resources } = decodeSotwResponse(message);
    const puts = resources.flatMap(({ typeUrl, value }): readonly ReceivedResource[] => {
      const type = parseTypeUrl(typeUrl);
      return type === undefined ? [] : [this.#read(type, value, version)];
    });
    const names = new Set(puts.map(({ name }) => name));
    const removed = this.#isFullState ? [...this.#versions.keys()].filter((name) => !names.has(name)) : [];
    return { version, nonce, puts, removed };
  }

  /** Takes off a wrapper, which says the name where the resource has none. What cannot be read has no name. */
  #read(type: TypeUrl, bytes: Uint8Array, version: string): ReceivedResource {
    const { input } = this.#api.readEncodedResource(type, bytes);
    if (input === undefined) return { name: "", version, type, bytes };
    return { name: input.name, version, type: input.type, bytes: input.bytes };
  }
}

/** A resource without a body says only that it is alive, or that it does not exist. */
function receivedOf({ name, version, resource }: ResourceMessage): readonly ReceivedResource[] {
  const type = resource === undefined ? undefined : parseTypeUrl(resource.typeUrl);
  if (resource === undefined || type === undefined) return [];
  return [{ name, version, type, bytes: resource.value }];
}
