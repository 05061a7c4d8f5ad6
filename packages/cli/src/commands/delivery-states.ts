/** What a row of `xds deliveries` may be. */
export const deliveryStates: readonly string[] = [
  "acked",
  "pending",
  "nacked",
  "sent",
  "requested-but-missing",
  "requested",
];
