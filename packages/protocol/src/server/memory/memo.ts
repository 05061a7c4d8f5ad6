/** What a map holds under a key, made first if it holds nothing yet. */
export function memo<K, T>(map: MemoMap<K, T>, key: K, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** A map, be it one that forgets what nobody has any more. */
interface MemoMap<K, T> {
  get(key: K): T | undefined;
  set(key: K, value: T): unknown;
}

/** The same; what has no key is made for one alone, and is not kept. */
export function memoShared<T>(map: Map<string, T>, key: string | undefined, make: () => T): T {
  return key === undefined ? make() : memo(map, key, make);
}
