/** The values of `--state`. */
export const deliveryStates: readonly string[] = [
  "acked",
  "pending",
  "nacked",
  "sent",
  "requested-but-missing",
  "requested",
];
