/** The host of `host:port`: what stays the same when a peer reconnects. IPv6 addresses keep their brackets. */
export function hostOf(address: string): string {
  const host = /^(\[.*\]|[^:]*):\d+$/.exec(address)?.[1];
  return host ?? address;
}
