import type { Requirement } from "../requirement.ts";

/** SUB, UNS: subscribing and unsubscribing. */
export const interestRules: readonly Requirement[] = [
  {
    id: "C-SUB-01",
    level: "must",
    scope: "State of the World",
    says: "A request names everything that is wanted of its type; in delta it tells what changed.",
  },
  {
    id: "C-SUB-04",
    level: "must",
    scope: "everywhere",
    says: "Resources that nobody asked for are dropped without a word: not kept, not told, not refused.",
  },
  {
    id: "B-SUB-07",
    level: "must",
    scope: "everywhere",
    says: "Everything there is of Listeners and Clusters can be asked for.",
  },
  {
    id: "C-SUB-17",
    level: "must",
    scope: "gRPC",
    says: "Everything is asked for by naming nothing in the first request, or with `*` (`explicitWildcard`). A client that names what it wants never does either.",
  },
  {
    id: "C-SUB-18",
    level: "must",
    scope: "gRPC",
    says: "A type of which nothing is wanted any more is not asked for on a new stream, because naming nothing would mean everything.",
  },
  {
    id: "C-SUB-21",
    level: "must",
    scope: "everywhere",
    says: "A proxy starts from all Listeners and Clusters and asks for what they name; any other client from the Listeners that it was told.",
  },
  {
    id: "C-UNS-01",
    level: "must",
    scope: "State of the World",
    says: "What is no longer wanted is left out of the names.",
  },
  {
    id: "C-UNS-02",
    level: "must",
    scope: "delta",
    says: "What is no longer wanted is named in `resource_names_unsubscribe`.",
  },
  {
    id: "C-UNS-07",
    level: "must",
    scope: "delta",
    says: "A name given up beside a wildcard may or may not be covered by it. Until the server says which, it is kept, reported on a new stream, and told to nobody who stopped asking.",
  },
  {
    id: "B-UNS-08",
    level: "must",
    scope: "gRPC",
    says: "Under a wildcard no single resource can be given up, only the wildcard itself.",
  },
  {
    id: "C-UNS-09",
    level: "must",
    scope: "delta",
    says: "With the wildcard goes what only the wildcard held; what was named stays.",
  },
  {
    id: "B-UNS-10",
    level: "must",
    scope: "delta",
    says: "A resource is given up by the name it was asked for under, be it an alias.",
  },
  {
    id: "B-UNS-11",
    level: "must",
    scope: "delta",
    says: "No request asks for a name and gives it up at once.",
  },
];
