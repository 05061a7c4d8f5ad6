/** What a map holds under a key, made first if it holds nothing yet. */
export function memo<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
