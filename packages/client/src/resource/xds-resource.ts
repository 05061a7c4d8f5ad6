import { inspect } from "node:util";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Constraints, Reference, TypeUrl } from "@xdskit/protocol";
import { type HeldResource, parseVariantKey, plainName, shownName } from "@xdskit/protocol/internal";

/**
 * A received and accepted resource. Immutable; the object stays the same while the content does. Printed, or as
 * `JSON.stringify` writes it, it shows its type, key, version and JSON, with keys and passwords redacted.
 */
export interface XdsResource<Json = unknown> {
  readonly type: TypeUrl;
  /** The name; variants share it and differ in `key`. */
  readonly name: string;
  /** Its key in changes and in `current`: the name; for a variant, with its constraints. */
  readonly key: string;
  /** The parameters that a variant is for; undefined: all. */
  readonly constraints: Constraints | undefined;
  readonly aliases: readonly string[];
  /** The version of the resource in delta, that of its response in SotW. */
  readonly version: string;
  /** The encoded message as received, with unknown fields. Do not change it. */
  readonly bytes: Uint8Array;
  /**
   * Canonical JSON with `@type`, made on first read. For an unknown type `{"@type", "value"}`, with the bytes in
   * base64.
   */
  readonly json: Json;
  /** The resources that it refers to, found on first read. */
  readonly references: readonly Reference[];
  /** Restored from the cache file, and not confirmed by a server yet (C-CLI-06). */
  readonly isRestored: boolean;
}

/** Converts held resources to `XdsResource`; the same input gives the same object. */
export interface ResourceViews {
  of(held: HeldResource): XdsResource;
}

/** The functions that read a resource's content from its bytes. */
type ResourcePrinter = Pick<EnvoyApi, "toJson" | "readEncodedResource">;

/** Makes resources whose JSON is read with these descriptors. */
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

  /** For logs and dumps, which omit getters: the useful fields, without keys and passwords. */
  toJSON(): object {
    const { type, key, version } = this;
    const json = this.#api.toJson(this.#held.bodyType ?? type, this.#held.bytes, { redact: true });
    return { type, key, version, json };
  }

  [inspect.custom](): object {
    return this.toJSON();
  }
}
