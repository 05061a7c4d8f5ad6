/** ` matching "edge-*"` for an id or glob that selects nodes; "" for all of them. */
export function matching(node: string | undefined): string {
  return node === undefined ? "" : ` matching ${JSON.stringify(node)}`;
}
