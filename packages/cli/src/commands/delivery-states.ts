/** The values of `--state`, in the order of summaries. */
export const deliveryStates = ["acked", "pending", "nacked", "sent", "requested-but-missing", "requested"] as const;
