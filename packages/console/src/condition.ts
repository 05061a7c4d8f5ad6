import type { NodeAnswer, TypeAnswer } from "@xdskit/server";

/** The states of a node, the worst first. */
export const conditions = ["nacked", "waiting", "pending", "acked"] as const;
export type Condition = (typeof conditions)[number];

/** What a state means, in a few words. */
export const meaning: Readonly<Record<Condition, string>> = {
  nacked: "a NACK is in force",
  waiting: "held back until something else is ACKed",
  pending: "sent, not ACKed yet",
  acked: "ACKed everything sent",
};

/** What a node lacks of a type, as the end of a sentence about the type. */
export const lackText = {
  "not-sent": "is not sent yet",
  pending: "is sent, and awaits its ACK",
  removal: "has removals that wait",
  nacked: "was NACKed",
} as const;

export function conditionOfType({ nacked, waits, pending }: TypeAnswer): Condition {
  if (nacked !== undefined) return "nacked";
  if (waits !== undefined) return "waiting";
  return pending.length > 0 ? "pending" : "acked";
}

export function conditionOf({ types }: NodeAnswer): Condition {
  const found = new Set(types.map(conditionOfType));
  return conditions.find((one) => found.has(one)) ?? "acked";
}
