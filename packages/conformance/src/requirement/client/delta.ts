import type { Requirement } from "../requirement.ts";

/** DLT, REC: delta, and reconnecting. */
export const deltaRules: readonly Requirement[] = [
  {
    id: "B-DLT-01",
    level: "must",
    scope: "delta",
    says: "Delta is spoken on gRPC streams only.",
  },
  {
    id: "C-DLT-03",
    level: "must",
    scope: "delta",
    says: "A request may open a type, answer a response and change what is wanted, all at once.",
  },
  {
    id: "C-DLT-04",
    level: "must",
    scope: "delta",
    says: "Only an answer carries a nonce.",
  },
  {
    id: "C-DLT-06",
    level: "must",
    scope: "delta",
    says: "A NACK is the nonce with an error, and refuses the whole response.",
    amended: "`nackPolicy` as in State of the World.",
  },
  {
    id: "B-DLT-11",
    level: "must",
    scope: "delta",
    says: "After the first request empty lists of names mean that nothing changes.",
  },
  {
    id: "B-DLT-12",
    level: "must",
    scope: "delta",
    says: "A resource has one name of its own and may answer to others; it is known by its own.",
  },
  {
    id: "C-DLT-15",
    level: "must",
    scope: "delta",
    says: "A resource serves everyone who asked for its name or for one of its aliases.",
  },
  {
    id: "B-DLT-17",
    level: "must",
    scope: "delta",
    says: "One change among very many costs one resource.",
  },
  {
    id: "B-DLT-18",
    level: "may",
    scope: "delta",
    says: "The method names of the 2018 draft are the server's affair: this client calls those that last.",
  },
  {
    id: "C-DLT-20",
    level: "must",
    scope: "delta",
    says: "A name that is given up and wanted again before a request left is asked for, not given up.",
  },
  {
    id: "C-REC-01",
    level: "must",
    scope: "gRPC",
    says: "When a stream is lost, what was accepted stays in force while the client tries again.",
  },
  {
    id: "C-REC-02",
    level: "must",
    scope: "gRPC",
    says: "The pause before the next stream is random below a limit that doubles from 500 ms to 30 s and starts anew once a response came. A stream that ends after a response did not fail.",
  },
  {
    id: "C-REC-03",
    level: "must",
    scope: "State of the World",
    says: "A new stream starts with the node, all names, the version accepted last and no nonce, for each type.",
  },
  {
    id: "C-REC-06",
    level: "must",
    scope: "delta",
    says: "The first request of a type on a new stream asks for everything that is wanted and tells the version of everything that is held, however it was come by.",
  },
  {
    id: "C-REC-07",
    level: "must",
    scope: "delta",
    says: "Held versions are told in that request only, and there are none on the first stream of all.",
  },
  {
    id: "C-REC-08",
    level: "must",
    scope: "delta",
    says: "What was removed, expired or never came is asked for but not among the held.",
  },
  {
    id: "C-REC-13",
    level: "must",
    scope: "State of the World, full-state types",
    says: "The first response of a new stream deletes what is gone meanwhile.",
  },
  {
    id: "C-REC-14",
    level: "must",
    scope: "gRPC",
    says: "Ttls run on while there is no stream.",
  },
];
