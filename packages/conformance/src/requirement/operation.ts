import type { Requirement } from "./requirement.ts";

/** CON, CFG, VAL, ACC, OBS: connections, bootstraps, validation, access, observability. */
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
    id: "S-ACC-01",
    level: "must",
    scope: "everywhere",
    says: "What a client gets is decided by one function of where it came in, who it is, the node that it claims to be, and the layer, type and name. What no rule allows is denied.",
  },
  {
    id: "S-ACC-02",
    level: "must",
    scope: "everywhere",
    says: "A rule that denies wins over every rule that allows.",
  },
  {
    id: "S-ACC-03",
    level: "must",
    scope: "everywhere",
    says: "A client is what a verified certificate says, each name as its own kind, or its address. Encryption and the node that it claims are no identity.",
  },
  {
    id: "S-ACC-04",
    level: "must",
    scope: "everywhere",
    says: "Without rules, Secrets and layers of single nodes go beyond loopback only to clients whose certificate names their node.",
  },
  {
    id: "S-ACC-05",
    level: "must",
    scope: "everywhere",
    says: "Every mistake in rules is told with its place.",
  },
  {
    id: "S-ACC-06",
    level: "must",
    scope: "everywhere",
    says: "A resource or a type that is not granted is as if it did not exist, before and after any change; a stream or poll of such a type alone ends with PERMISSION_DENIED.",
  },
  {
    id: "S-ACC-07",
    level: "must",
    scope: "everywhere",
    says: "A change of rules gives connected clients the difference, and ends those that may no longer be their node.",
  },
  {
    id: "S-ACC-08",
    level: "must",
    scope: "everywhere",
    says: "A client that may not be its node ends with PERMISSION_DENIED, or UNAUTHENTICATED without a certificate; only the operator is told why.",
  },
  {
    id: "S-ACC-20",
    level: "must",
    scope: "everywhere",
    says: "Every way into a server is decided like discovery: client status, load reports, health discovery, unary fetches, health, reflection, metrics and the admin API. Who is refused is told once and counted, and who is let in is shown what its rules give it.",
  },
  {
    id: "S-ACC-21",
    level: "should",
    scope: "everywhere",
    says: "Rules that decide nothing, and settings that give Secrets to whoever reaches the port, are told at validation and at the start.",
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
