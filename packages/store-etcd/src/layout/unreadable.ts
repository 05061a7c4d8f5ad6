/** The error for a value of etcd that is none of this layout; `why`: what was expected. */
export function unreadable(key: string, why: string): Error {
  return new Error(`the value of ${key} in etcd cannot be read: ${why}`);
}
