import type { Requirement } from "../requirement.ts";

/** RES, DEL, NEX: responses, removals, and names that do not exist. */
export const deliveryRules: readonly Requirement[] = [
  {
    id: "C-RES-09",
    level: "must",
    scope: "delta",
    says: "What a response does not mention is as it was.",
  },
  {
    id: "B-RES-10",
    level: "must",
    scope: "everywhere",
    says: "A response that names a resource twice is refused.",
  },
  {
    id: "C-RES-11",
    level: "must",
    scope: "delta",
    says: "So is one that removes a name twice, or brings and removes it.",
  },
  {
    id: "C-RES-12",
    level: "must",
    scope: "State of the World",
    says: "Twice means by name, whether in a wrapper or not.",
  },
  {
    id: "C-RES-17",
    level: "must",
    scope: "State of the World",
    says: "An empty response deletes all Listeners or Clusters, and of other types nothing. Both are acknowledged.",
  },
  {
    id: "C-DEL-01",
    level: "must",
    scope: "State of the World, full-state types",
    says: "What was there and is not in a newer response is gone.",
  },
  {
    id: "C-DEL-02",
    level: "must",
    scope: "State of the World, named types",
    says: "What a response leaves out keeps its last content.",
  },
  {
    id: "C-DEL-03",
    level: "must",
    scope: "State of the World, named types",
    says: "What others refer to is given up when the last of them is gone.",
  },
  {
    id: "C-DEL-05",
    level: "must",
    scope: "delta",
    says: "A removed resource is dropped and told, and goes on being asked for.",
  },
  {
    id: "C-DEL-06",
    level: "must",
    scope: "delta",
    says: "Removing what is not there is no mistake.",
  },
  {
    id: "C-DEL-09",
    level: "should",
    scope: "delta",
    says: "A removed resource that others still refer to stays in use and counts as missing.",
    amended: "Told as absent with what is held; whoever follows references decides (`childRemoval`).",
  },
  {
    id: "C-DEL-10",
    level: "may",
    scope: "gRPC",
    says: "Deleted Listeners and Clusters can go on being used, and are shown as missing (`ignoreDeletion`).",
  },
  {
    id: "C-NEX-01",
    level: "must",
    scope: "State of the World",
    says: "That a response leaves a name out does not prove that there is none.",
  },
  {
    id: "C-NEX-02",
    level: "must",
    scope: "gRPC",
    says: "A name that nobody answered for in 15 s, or what was set, is told not to exist.",
  },
  {
    id: "C-NEX-03",
    level: "must",
    scope: "gRPC",
    says: "That time runs from the moment a request really left, stops while there is no stream, begins anew on the next, and does not run for what is held.",
  },
  {
    id: "C-NEX-04",
    level: "should",
    scope: "State of the World, full-state types",
    says: "What an answer to a sole wildcard leaves out does not exist (`absenceByWildcard`).",
  },
  {
    id: "C-NEX-05",
    level: "must",
    scope: "everywhere",
    says: "What does not exist goes on being asked for, and is taken when it comes.",
  },
  {
    id: "C-NEX-08",
    level: "must",
    scope: "delta",
    says: "Both ways of saying that there is no such resource are understood: a removal, and a resource without a body, unless that repeats the version that is held.",
  },
  {
    id: "C-NEX-10",
    level: "must",
    scope: "delta",
    says: "In delta the time runs as well, because a server may say nothing.",
  },
];
