import type { TypeUrl } from "../resource/type-url.ts";

/** Names that are remembered for each type; of more, the oldest are forgotten. */
const MAX_NAMES = 100_000;

const none: ReadonlySet<string> = new Set();

/**
 * Every name that has a ttl in some layer, or had one: a client that was told of it then, and was away since, may hold it for a
 * time only, whatever has become of it and whatever the client sees now.
 */
export class TimedNames {
  readonly #byType = new Map<TypeUrl, Set<string>>();

  of(type: TypeUrl): ReadonlySet<string> {
    return this.#byType.get(type) ?? none;
  }

  add(type: TypeUrl, name: string): void {
    const names = this.#byType.get(type) ?? new Set();
    this.#byType.set(type, names.add(name));
    if (names.size <= MAX_NAMES) return;
    for (const oldest of names) {
      names.delete(oldest);
      return;
    }
  }
}
