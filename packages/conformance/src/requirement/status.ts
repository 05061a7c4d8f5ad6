import type { Requirement } from "./requirement.ts";

/** CSD, LRS, HDS: client status, load reports, health checks. */
export const statusRequirements: readonly Requirement[] = [
  {
    id: "S-CSD-01",
    level: "must",
    scope: "everywhere",
    says: "Client status is answered once for each request, for every connected client that some node matcher matches in all its parts; without matchers for every client.",
    amended: "Only to whoever may see the configuration of all clients: this machine, unless set otherwise.",
  },
  {
    id: "S-CSD-02",
    level: "must",
    scope: "everywhere",
    says: "A resource is SYNCED when it was accepted, STALE when it was sent and not answered, ERROR with the refused content when it was refused, NOT_SENT before it is sent, and UNKNOWN where nothing is known.",
    amended:
      "A name that is asked for and does not exist is NOT_SENT; what a client took before stays SYNCED in a later response that repeats it.",
  },
  {
    id: "B-CSD-04",
    level: "must",
    scope: "everywhere",
    says: "In v3 status is told resource by resource, without their contents if so asked; the deprecated form by type is for v2.",
    amended:
      "v3 never has the deprecated form. The scope of a client is where it connects from, so that clients of one id can be told apart. Secrets are replaced.",
  },
  {
    id: "B-CSD-05",
    level: "must",
    scope: "everywhere",
    says: "In v2 status is told by type, for listeners, clusters, routes and scoped routes.",
  },
  {
    id: "S-LRS-02",
    level: "must",
    scope: "gRPC",
    says: "The first load report of a stream is answered with the clusters to report and the interval; the server may say so anew to change them.",
    amended: "Never an interval below a second.",
  },
  {
    id: "S-LRS-03",
    level: "must",
    scope: "gRPC",
    says: "All clusters are asked for at once, without names, only of clients that announce that they understand it.",
    amended:
      "Of others by the names of the clusters in their view. Of grpc-js always at once, because it loses the first name.",
  },
  {
    id: "S-LRS-06",
    level: "must",
    scope: "gRPC",
    says: "Load is added up by cluster and service name.",
    amended: "And by locality and priority; what is in progress is the newest word of each client.",
  },
  {
    id: "B-HDS-01",
    level: "may",
    scope: "gRPC",
    says: "A client offers to check health, is told what to check and how often, and tells what it finds.",
    amended: "Only in servers whose program provides for it.",
  },
];
