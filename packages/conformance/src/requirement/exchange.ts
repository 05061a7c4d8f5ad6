import type { Requirement } from "./requirement.ts";

/** VER, ACK, NON: versions, ACKs and NACKs, nonces. */
export const exchangeRequirements: readonly Requirement[] = [
  {
    id: "S-VER-01",
    level: "must",
    scope: "State of the World",
    says: "The version of a type names the state of all its resources that the client can see: another state, another version; the same state, the same version.",
  },
  {
    id: "B-VER-02",
    level: "must",
    scope: "ADS",
    says: "Each type has a version of its own, also on one stream.",
  },
  {
    id: "B-VER-03",
    level: "must",
    scope: "everywhere",
    says: "Versions of different servers have nothing to do with each other.",
  },
  {
    id: "B-VER-04",
    level: "must",
    scope: "State of the World",
    says: "A version outlives its stream: the first request of a new one carries what the client accepted last.",
  },
  {
    id: "S-VER-06",
    level: "must",
    scope: "State of the World",
    says: "Sending one more resource of an unchanged type does not change the version.",
  },
  {
    id: "B-VER-07",
    level: "must",
    scope: "delta",
    says: "The system version is for people. Nothing is decided by it.",
  },
  {
    id: "S-VER-08",
    level: "must",
    scope: "delta",
    says: "A resource has a version that is never empty and changes exactly when the resource does.",
  },
  {
    id: "B-VER-09",
    level: "must",
    scope: "State of the World",
    says: "What is remembered of versions is remembered per server and type.",
  },
  {
    id: "S-ACK-05",
    level: "must",
    scope: "State of the World",
    says: "A request with the newest nonce is a NACK if it carries an error, whatever the error says and whatever version stands beside it.",
  },
  {
    id: "S-ACK-06",
    level: "may",
    scope: "State of the World",
    says: "The old reading, by which another version than the one sent is a NACK too, can be switched on (`nackByVersion`).",
  },
  {
    id: "B-ACK-08",
    level: "must",
    scope: "State of the World",
    says: "A response is refused as a whole, not resource by resource.",
  },
  {
    id: "S-ACK-10",
    level: "must",
    scope: "State of the World",
    says: "An ACK or NACK may change what is subscribed to at the same time; both are heeded.",
  },
  {
    id: "S-ACK-11",
    level: "must",
    scope: "State of the World",
    says: "What was refused is not sent again. The next change is, without being asked for.",
    amended: "When one resource of a refused response changes, the others of it are sent again after it.",
  },
  {
    id: "S-ACK-12",
    level: "must",
    scope: "gRPC",
    says: "A NACK concerns its own type only.",
  },
  {
    id: "S-ACK-13",
    level: "must",
    scope: "everywhere",
    says: "The operator can learn what each node accepted and refused, with the client's words.",
  },
  {
    id: "B-ACK-16",
    level: "must",
    scope: "files",
    says: "Files are not acknowledged; over REST the next poll does it.",
    amended: "Who writes files takes them for accepted after a time, and only then writes what depends on them.",
  },
  {
    id: "S-NON-01",
    level: "must",
    scope: "gRPC",
    says: "Each response has a nonce that is not empty and that its stream has not seen.",
  },
  {
    id: "S-NON-04",
    level: "must",
    scope: "State of the World",
    says: "Once a newer response of a type left, a request with an older nonce is neither answered nor taken for an ACK or NACK.",
  },
  {
    id: "S-NON-05",
    level: "must",
    scope: "State of the World",
    says: "A request without a nonce in mid-stream does not acknowledge anything.",
    amended: "Its names are honoured and answered: some clients change their subscriptions that way.",
  },
  {
    id: "S-NON-06",
    level: "must",
    scope: "State of the World",
    says: "A nonce that was never given is treated like an old one.",
  },
  {
    id: "S-NON-07",
    level: "must",
    scope: "State of the World",
    says: "The names of a stale request are not remembered, so that the ACK that follows brings them as new.",
    amended:
      "`staleNonce=honour-names` answers them at once. After a NACK the last accepted nonce counts as current too.",
  },
  {
    id: "S-NON-08",
    level: "may",
    scope: "State of the World",
    says: "Of several requests under one nonce only the newest needs an answer.",
  },
  {
    id: "S-NON-10",
    level: "must",
    scope: "delta",
    says: "No nonce makes a change of subscriptions void; it only pairs an ACK or NACK with its response.",
  },
  {
    id: "B-NON-11",
    level: "must",
    scope: "REST",
    says: "REST can do without nonces, and files have none.",
  },
];
