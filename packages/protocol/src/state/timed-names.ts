import type { TypeUrl } from "../resource/type-url.ts";

/** The most names kept per type; beyond it, the oldest are dropped. */
const MAX_NAMES = 100_000;

const none: ReadonlySet<string> = new Set();

/**
 * Every name that has or had a TTL in some layer. A client that received one and was away since may hold it only for a
 * limited time, whatever happened to the resource or to the client's view.
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
