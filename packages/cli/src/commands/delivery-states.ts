import type { DeliveryFate } from "@xdskit/server";

/** The values of `--state`, in the order of summaries. */
export const deliveryStates: readonly DeliveryFate[] = [
  "acked",
  "pending",
  "nacked",
  "sent",
  "does-not-exist",
  "requested",
];
