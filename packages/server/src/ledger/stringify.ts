import type { Slices } from "../slices.ts";

/** Lists with more items are divided; what their items hold is written at once. */
const ITEMS_AT_ONCE = 100;
/** So many items of such a list are one part. */
const ITEMS_IN_A_PART = 16;

/** The text that `JSON.stringify` makes of plain data, in slices. */
export async function stringify(value: object, slices: Slices): Promise<string> {
  if (isShort(value)) return JSON.stringify(value);
  const written: string[] = [];
  let parts: string[] = [];
  for (const part of partsOf(value)) {
    parts.push(part);
    if (!slices.count(part.length)) continue;
    // Joined at the end of each slice, so that at the end of all there is little left to copy.
    written.push(parts.join(""));
    parts = [];
    await slices.next();
  }
  return [...written, ...parts].join("");
}

/** Whether no list is long, as in most records. */
function isShort(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.length <= ITEMS_AT_ONCE && value.every(isShort);
  return Object.values(value).every(isShort);
}

/** Yields a part for some items of the long lists. */
function* partsOf(value: unknown): Iterable<string> {
  if (Array.isArray(value)) {
    if (value.length <= ITEMS_AT_ONCE) yield* shortList(value);
    else yield* longList(value);
  } else if (typeof value === "object" && value !== null) {
    let before = "{";
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* partsOf(member);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  } else yield JSON.stringify(value ?? null);
}

function* shortList(list: readonly unknown[]): Iterable<string> {
  let before = "[";
  for (const item of list) {
    yield before;
    yield* partsOf(item);
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}

function* longList(list: readonly unknown[]): Iterable<string> {
  for (let from = 0; from < list.length; from += ITEMS_IN_A_PART) {
    const text = JSON.stringify(list.slice(from, from + ITEMS_IN_A_PART));
    yield `${from === 0 ? "[" : ","}${text.slice(1, -1)}`;
  }
  yield "]";
}
