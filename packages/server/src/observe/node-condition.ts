/** The conditions of a node, the worst first. */
export const NODE_CONDITIONS = ["nacked", "waiting", "pending", "acked"] as const;

/**
 * How a node stands with what it was sent, over all its streams and types. `nacked`: a NACK is in force. `waiting`:
 * something is held back until something else has been ACKed. `pending`: a response awaits its ACK. `acked`: none of
 * these.
 */
export type NodeCondition = (typeof NODE_CONDITIONS)[number];
