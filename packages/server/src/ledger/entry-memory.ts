import type { Resource } from "@xdskit/protocol";
import type { Digest, Entry } from "@xdskit/protocol/internal";
import { encodeBody, type StoredBody } from "./body.ts";

/** So many bytes of bodies are kept from their digest to their append. */
const MOST_ENCODED_BYTES = 64 * 1024 * 1024;

/** How the entry of a resource is made. */
export interface EntryRules {
  readonly digest: Digest;
  /** Such resources are recorded by their versions, without a body. */
  readonly holdsSecret: (resource: Resource) => boolean;
  /**
   * Which resources are the endpoints of a cluster that has none.
   * @default none of them
   */
  readonly lacksEndpoints?: ((resource: Resource) => boolean) | undefined;
}

/** The entries of resources, each made once; they may be made before the resources are published. */
export class EntryMemory {
  readonly #rules: EntryRules;
  readonly #entries = new WeakMap<Resource, Entry>();
  /** Bodies that were encoded for their digests and are about to be added. */
  readonly #encoded = new Map<Resource, StoredBody>();
  #encodedBytes = 0;

  constructor(rules: EntryRules) {
    this.#rules = rules;
  }

  entryOf(resource: Resource): Entry {
    const known = this.#entries.get(resource);
    if (known !== undefined) return known;
    const body = bodyOf(resource, this.#rules);
    const entry = entryWith(body, resource, this.#rules);
    this.#entries.set(resource, entry);
    if (body !== undefined && this.#encodedBytes < MOST_ENCODED_BYTES) {
      this.#encodedBytes += body.bytes.byteLength;
      this.#encoded.set(resource, body);
    }
    return entry;
  }

  /** The body of a resource, which holds no secret. */
  bodyOf(resource: Resource): StoredBody {
    return this.#encoded.get(resource) ?? encodeBody(resource, this.#rules.digest);
  }

  /** Nothing is added of what was encoded. */
  forgetBodies(): void {
    this.#encoded.clear();
    this.#encodedBytes = 0;
  }

  /** Takes the entry of a resource whose content is not here. */
  know(resource: Resource, entry: Entry): void {
    this.#entries.set(resource, entry);
  }
}

/** The entry of a resource. */
export function entryOf(resource: Resource, rules: EntryRules): Entry {
  return entryWith(bodyOf(resource, rules), resource, rules);
}

function bodyOf(resource: Resource, { digest, holdsSecret }: EntryRules): StoredBody | undefined {
  return holdsSecret(resource) ? undefined : encodeBody(resource, digest);
}

function entryWith(body: StoredBody | undefined, resource: Resource, { lacksEndpoints }: EntryRules): Entry {
  const entry = { version: resource.version, body: body?.id, size: resource.bytes.byteLength };
  return lacksEndpoints?.(resource) === true ? { ...entry, isEmpty: true } : entry;
}
