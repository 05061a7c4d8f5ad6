/** How binding a rule is, as RFC 2119 uses the words. */
export type Level = "must" | "should" | "may";

/** Where a rule holds. */
export type Scope =
  | "everywhere"
  | "gRPC"
  | "State of the World"
  | "State of the World, full-state types"
  | "State of the World, named types"
  | "delta"
  | "ADS"
  | "delta ADS"
  | "per-type streams"
  | "files"
  | "REST";

/** A rule of the protocol: for the server, for the client, or for both sides, of which each has its own list. */
export interface Requirement {
  /** `S-` binds the server, `C-` the client, `B-` both sides. Never given to another rule, never used again. */
  readonly id: string;
  readonly level: Level;
  readonly scope: Scope;
  /** The rule, as a sentence of our own. */
  readonly says: string;
  /** What is tested where we decided otherwise than the rule reads, or where it had to be made exact. */
  readonly amended?: string;
  /** Why there is no case yet. Absent: the rule is kept now. */
  readonly later?: string;
}

/** The group in an id: `DLT` of `S-DLT-09`. */
export function groupOf(id: string): string {
  return id.split("-")[1] ?? id;
}

/** Whom the rule binds. */
export function sideOf(id: string): "server" | "client" | "both" {
  if (id.startsWith("B-")) return "both";
  return id.startsWith("C-") ? "client" : "server";
}
