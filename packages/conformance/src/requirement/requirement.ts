/** The level of a rule, as in RFC 2119. */
export type Level = "must" | "should" | "may";

/** Where a rule applies. */
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

/** A rule of the protocol for the server, the client or both; each side has its own list. */
export interface Requirement {
  /** `S-` binds the server, `C-` the client, `B-` both. Ids are never reused. */
  readonly id: string;
  readonly level: Level;
  readonly scope: Scope;
  /** The rule in our own words. */
  readonly says: string;
  /** What is tested instead, where we deviate from the rule or had to make it exact. */
  readonly amended?: string;
  /** Why it has no case yet; absent if the rule is implemented. */
  readonly later?: string;
}

/** The group in an id: `DLT` of `S-DLT-09`. */
export function groupOf(id: string): string {
  return id.split("-")[1] ?? id;
}

/** The side that the rule binds. */
export function sideOf(id: string): "server" | "client" | "both" {
  if (id.startsWith("B-")) return "both";
  return id.startsWith("C-") ? "client" : "server";
}
