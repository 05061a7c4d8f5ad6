/** Returns the value under a key; makes and stores it if there is none. */
export function memo<K, T>(map: MemoMap<K, T>, key: K, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** A `Map`, or a `WeakMap`. */
interface MemoMap<K, T> {
  get(key: K): T | undefined;
  set(key: K, value: T): unknown;
}
