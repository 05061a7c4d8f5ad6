import type { ValuePath } from "@xdskit/protocol/internal";

/** Whether a problem is in a field's name or value. */
export type Part = "key" | "value";

interface Entries {
  /** Undefined for a list. */
  readonly keys: string[] | undefined;
  readonly keyAt: number[];
  readonly valueAt: number[];
}

/**
 * The positions of the keys and values of a document. Kept apart from the values and made only for problems: the
 * positions of 100,000 clusters take more memory than the clusters.
 */
export class Places {
  /** The offset of the text that is read, in the text that positions count in. */
  readonly base: number;
  readonly #entries = new WeakMap<object, Entries>();

  constructor(base = 0) {
    this.base = base;
  }

  /** Records the next entry of a mapping. */
  noteEntry(mapping: object, key: string, keyAt: number, valueAt: number): void {
    const entries = this.#of(mapping, []);
    entries.keys?.push(key);
    entries.keyAt.push(keyAt);
    entries.valueAt.push(valueAt);
  }

  /** Records the next item of a list. */
  noteItem(list: object, valueAt: number): void {
    this.#of(list, undefined).valueAt.push(valueAt);
  }

  /** The offset of the value at a path from a root, or of its nearest existing ancestor. */
  find(root: unknown, rootAt: number, path: ValuePath, part: Part): number {
    let value = root;
    let at = rootAt;
    for (const [depth, step] of path.entries()) {
      const entries = typeof value === "object" && value !== null ? this.#entries.get(value) : undefined;
      if (entries === undefined) return at;
      const index = typeof step === "number" ? step : (entries.keys?.indexOf(step) ?? -1);
      const isKeyWanted = part === "key" && depth === path.length - 1 && entries.keys !== undefined;
      const found = isKeyWanted ? entries.keyAt[index] : entries.valueAt[index];
      if (found === undefined) return at;
      at = this.base + found;
      value = entries.keys === undefined ? itemOf(value, index) : entryOf(value, entries.keys[index]);
    }
    return at;
  }

  #of(container: object, keys: string[] | undefined): Entries {
    const known = this.#entries.get(container);
    if (known !== undefined) return known;
    const entries: Entries = { keys, keyAt: [], valueAt: [] };
    this.#entries.set(container, entries);
    return entries;
  }
}

/** Sets a field of a value, even one named `__proto__`. */
export function setField(mapping: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") mapping[key] = value;
  else Object.defineProperty(mapping, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The field of a mapping; undefined if the value is no mapping or lacks it. */
export function entryOf(value: unknown, key: string | undefined): unknown {
  if (key === undefined || !isMapping(value)) return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Whether a JSON value is an object. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function itemOf(value: unknown, index: number): unknown {
  return Array.isArray(value) ? (value as readonly unknown[])[index] : undefined;
}

/** The kind of a JSON value, without its content. */
export function describeKind(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? "a text" : typeof value === "number" ? "a number" : "true or false";
}
