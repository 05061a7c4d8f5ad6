import { inspect } from "node:util";
import type { EnvoyApi } from "@xdskit/envoy-api";
import {
  type Constraints,
  type HeldResource,
  parseVariantKey,
  plainName,
  type Reference,
  shownName,
  type TypeUrl,
} from "@xdskit/protocol";

/**
 * A resource as it was received and accepted. Immutable; the same object as long as its content is the same. Printed, or by `JSON.stringify`, it
 * shows its type, key, version and JSON, keys and passwords replaced.
 */
export interface XdsResource<Json = unknown> {
  readonly type: TypeUrl;
  /** Of a variant with constraints its name; `key` tells variants apart. */
  readonly name: string;
  /** What it is known by in changes and in `current`: its name, of a variant with its constraints. */
  readonly key: string;
  /** Of a variant, which parameters it is for; undefined: for all. */
  readonly constraints: Constraints | undefined;
  readonly aliases: readonly string[];
  /** Its own in delta; that of the response it came with in State of the World. */
  readonly version: string;
  /** The encoded message as it came, fields that are not known to us included. Not to be changed. */
  readonly bytes: Uint8Array;
  /**
   * Canonical JSON with `@type`, made when it is first asked for. Of a type that is not known to the descriptors `{"@type", "value"}`, with
   * the bytes in base64.
   */
  readonly json: Json;
  /** What it names, found when it is first asked for. */
  readonly references: readonly Reference[];
  /** Restored from an earlier life, and not confirmed by a server yet (C-CLI-06). */
  readonly isRestored: boolean;
}

/** Makes resources of what is held; the same one again for the same. */
export interface ResourceViews {
  of(held: HeldResource): XdsResource;
}

/** What is asked of a resource beyond what stands beside its bytes. */
type ResourcePrinter = Pick<EnvoyApi, "toJson" | "readEncodedResource">;

/** Resources for the person, whose JSON is printed by these descriptors. */
export function createResourceViews(api: ResourcePrinter): ResourceViews {
  const known = new WeakMap<HeldResource, XdsResource>();
  return {
    of(held) {
      const seen = known.get(held);
      if (seen !== undefined) return seen;
      const made = new ResourceView(held, api);
      known.set(held, made);
      return made;
    },
  };
}

class ResourceView implements XdsResource {
  readonly #held: HeldResource;
  readonly #api: ResourcePrinter;
  #json: unknown;
  #references: readonly Reference[] | undefined;

  constructor(held: HeldResource, api: ResourcePrinter) {
    this.#held = held;
    this.#api = api;
  }

  get type(): TypeUrl {
    return this.#held.type;
  }

  get name(): string {
    return plainName(this.#held.name);
  }

  get key(): string {
    return shownName(this.#held.name);
  }

  get constraints(): Constraints | undefined {
    return parseVariantKey(this.#held.name)?.constraints;
  }

  get aliases(): readonly string[] {
    return this.#held.aliases;
  }

  get version(): string {
    return this.#held.version;
  }

  get bytes(): Uint8Array {
    return this.#held.bytes;
  }

  get json(): unknown {
    this.#json ??= this.#api.toJson(this.#held.bodyType ?? this.#held.type, this.#held.bytes);
    return this.#json;
  }

  get references(): readonly Reference[] {
    this.#references ??= this.#held.bodyType === undefined ? this.#findReferences() : [];
    return this.#references;
  }

  get isRestored(): boolean {
    return this.#held.isRestored === true;
  }

  #findReferences(): readonly Reference[] {
    const { type, bytes } = this.#held;
    return this.#api.readEncodedResource(type, bytes, { name: this.name }).input?.references ?? [];
  }

  /** For logs and dumps, in which getters would not be: what is worth reading of it, without keys and passwords. */
  toJSON(): object {
    const { type, key, version } = this;
    const json = this.#api.toJson(this.#held.bodyType ?? type, this.#held.bytes, { redact: true });
    return { type, key, version, json };
  }

  [inspect.custom](): object {
    return this.toJSON();
  }
}
