import type { Requirement } from "./requirement.ts";

/** CON, CFG, VAL, OBS: connections, bootstraps, validation, observability. */
export const operationRequirements: readonly Requirement[] = [
  {
    id: "S-CON-02",
    level: "must",
    scope: "gRPC",
    says: "Clients may ping as often as every few seconds, with or without streams.",
  },
  {
    id: "S-CON-03",
    level: "should",
    scope: "gRPC",
    says: "The server can ping, and can ask connections to leave at an age, without breaking what runs on them.",
  },
  {
    id: "S-CFG-10",
    level: "must",
    scope: "everywhere",
    says: "For every transport and version there is a bootstrap, ready to be used, that a client starts from.",
    amended: "`xds bootstrap` prints it.",
  },
  {
    id: "S-VAL-03",
    level: "must",
    scope: "everywhere",
    says: "Constraints of the schema do not decide what is served. Checking resources when they enter is up to the operator.",
  },
  {
    id: "B-VAL-04",
    level: "must",
    scope: "everywhere",
    says: "Constraints come with the schema and nowhere else, because they change.",
  },
  {
    id: "S-OBS-02",
    level: "should",
    scope: "everywhere",
    says: "Streams, requests, responses, ACKs, NACKs, stale requests and bytes are counted; a NACK's text is in the log.",
  },
  {
    id: "S-OBS-03",
    level: "should",
    scope: "everywhere",
    says: "An embedding program can listen to what happens. If it throws on a new stream or a request, that stream ends and no other.",
  },
  {
    id: "B-OBS-04",
    level: "should",
    scope: "everywhere",
    says: "The state of each client and type can be looked up, with the last error.",
    amended: "Through the admin API and CSDS, from the same records.",
  },
];
