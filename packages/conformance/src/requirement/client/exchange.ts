import type { Requirement } from "../requirement.ts";

/** VER, ACK, NON: versions, ACKs and NACKs, nonces. */
export const exchangeRules: readonly Requirement[] = [
  {
    id: "B-VER-02",
    level: "must",
    scope: "ADS",
    says: "Each type has its own version, though all share a stream.",
  },
  {
    id: "B-VER-03",
    level: "must",
    scope: "everywhere",
    says: "Versions are kept apart by server; of two sources that give the same type neither is told the version of the other.",
  },
  {
    id: "B-VER-04",
    level: "must",
    scope: "State of the World",
    says: "A version outlives its stream: the first request of the next one tells the version accepted last, without a nonce.",
    amended: "`resumeVersion` off starts every stream without one.",
  },
  {
    id: "C-VER-05",
    level: "must",
    scope: "State of the World",
    says: "A request tells the version of the last response that was accepted of its type from its server; none before that.",
  },
  {
    id: "B-VER-07",
    level: "must",
    scope: "delta",
    says: "The system version of a response decides nothing and is not given back.",
  },
  {
    id: "B-VER-09",
    level: "must",
    scope: "State of the World",
    says: "Versions are kept by server and type.",
  },
  {
    id: "C-ACK-01",
    level: "must",
    scope: "State of the World",
    says: "Each response is answered by one request, as soon as it is known whether it is taken.",
    amended:
      "Of answers that have to wait, under a limit of requests or until Clusters are warm, only the newest of a type is sent.",
  },
  {
    id: "C-ACK-02",
    level: "must",
    scope: "State of the World",
    says: "An ACK carries the version and the nonce of the response, the names that are wanted now, and no error.",
  },
  {
    id: "C-ACK-03",
    level: "must",
    scope: "State of the World",
    says: "A NACK carries the nonce of the refused response, the version that was accepted before, and an error with a text for people.",
  },
  {
    id: "C-ACK-04",
    level: "must",
    scope: "State of the World",
    says: "The error stands in the NACK alone, not in requests after it.",
  },
  {
    id: "C-ACK-07",
    level: "may",
    scope: "State of the World",
    says: "The version in a NACK may be that of the refused response, when that is the version in force.",
  },
  {
    id: "B-ACK-08",
    level: "must",
    scope: "State of the World",
    says: "A response is refused as a whole, and nothing of it is used.",
    amended: "`nackPolicy=apply-valid` uses what is good in it, and refuses it all the same.",
  },
  {
    id: "C-ACK-09",
    level: "must",
    scope: "State of the World",
    says: "Between a response and its answer nothing else is asked of its type; what changed meanwhile travels with the answer.",
  },
  {
    id: "C-ACK-14",
    level: "must",
    scope: "State of the World",
    says: "A response that repeats the one before is acknowledged under its own nonce.",
  },
  {
    id: "C-ACK-15",
    level: "must",
    scope: "ADS",
    says: "Clusters and Listeners are acknowledged when they are accepted. Nothing waits for an answer that the server may never give.",
    amended: "`cdsAckWhenWarm` withholds the ACK of clusters until nothing warms, as Envoy does.",
  },
  {
    id: "B-ACK-16",
    level: "must",
    scope: "files",
    says: "Files are not answered; over REST the next poll is the answer.",
  },
  {
    id: "C-NON-02",
    level: "must",
    scope: "State of the World",
    says: "From the first response on, every request of its type carries the newest nonce of that type on the stream, also one that only changes names.",
  },
  {
    id: "C-NON-03",
    level: "must",
    scope: "gRPC",
    says: "Nonces end with their stream.",
  },
  {
    id: "C-NON-09",
    level: "must",
    scope: "State of the World",
    says: "A request that is never answered is no error.",
  },
  {
    id: "B-NON-11",
    level: "must",
    scope: "REST",
    says: "REST works with nonces and without; files have none.",
  },
];
