/** `host` of `host:port`; an IPv6 address keeps its brackets. */
export function hostOf(address: string): string {
  const colon = address.lastIndexOf(":");
  return colon === -1 ? address : address.slice(0, colon);
}
