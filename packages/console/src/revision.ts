import type { RevisionAnswer } from "@xdskit/server";

/** What people call the kinds of records. */
export const kindText: Readonly<Record<string, string>> = {
  revision: "applied",
  live: "live data",
  held: "held",
  emptied: "endpoints emptied",
  approved: "approved",
  rejected: "rejected",
  withdrawn: "withdrawn",
  "rolled-back": "rolled back",
  unpinned: "unpinned",
};

/** The kinds by which something came in force. */
const effective = new Set(["revision", "live", "approved", "rolled-back"]);

export function isEffective({ kind }: Pick<RevisionAnswer, "kind">): boolean {
  return effective.has(kind);
}

/** The class of a kind's badge. */
export const kindClass: Readonly<Record<string, string>> = {
  revision: "acked",
  held: "pending",
  emptied: "pending",
  approved: "acked",
  rejected: "nacked",
  "rolled-back": "waiting",
};

/** How many resources change, in words. */
export function changesText({ added, changed, deleted, placement }: Counts): string {
  const parts = [
    added > 0 && `${added} added`,
    changed > 0 && `${changed} changed`,
    deleted > 0 && `${deleted} deleted`,
    placement && "node mapping or access",
  ];
  return parts.filter((part) => part !== false).join(", ") || "no resource changes";
}

export interface Counts {
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
  readonly placement: boolean;
}
