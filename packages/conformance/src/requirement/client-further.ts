import { diagrams, type Point } from "./further.ts";

/** Diagrams of VHDS, which the client's VHDS rules cover. */
const withoutClient: ReadonlySet<string> = new Set(["D13", "D14"]);

/** Rows on which editions disagree that concern the client, alone or with the server (requirements 4). */
const rows: readonly Point[] = [
  { id: "E1", says: "leaving a wildcard" },
  { id: "E5", says: "what a resource without a body means" },
  { id: "E8", says: "versions over streams" },
  { id: "E14", says: "what proves that something does not exist" },
  { id: "E15", says: "warming of a changed cluster" },
  { id: "E16", says: "when children are removed" },
  { id: "E20", says: "versions that a client brings" },
  { id: "E21", says: "names twice, and the wait for what does not exist" },
  { id: "E23", says: "ttls and heartbeats" },
  { id: "E27", says: "two forms of the bootstrap file" },
  { id: "E31", says: "which version of the API is meant by AUTO" },
  { id: "E32", says: "which changes of a file count" },
  { id: "E33", says: "checks of what comes" },
  { id: "E34", says: "when clusters are acknowledged" },
];

/** Points beside the requirements that cases of the client must cover. */
export const clientPoints: readonly Point[] = [
  ...diagrams.filter(({ id }) => !withoutClient.has(id)),
  { id: "O-10", says: "scoped routes in State of the World" },
  { id: "O-14", says: "a delta response that holds nothing" },
  ...rows,
];
