import type { Requirement } from "./requirement.ts";

/** SUB, NEX, UNS: subscribing, names that do not exist, unsubscribing. */
export const interestRequirements: readonly Requirement[] = [
  {
    id: "S-SUB-02",
    level: "must",
    scope: "everywhere",
    says: "What is named and exists is sent.",
  },
  {
    id: "S-SUB-03",
    level: "may",
    scope: "State of the World, named types",
    says: "More than was named may be sent. It is not, unless the operator takes names for hints (`ignoreHints`).",
  },
  {
    id: "S-SUB-05",
    level: "must",
    scope: "State of the World",
    says: "A newly named resource is sent even if the client was sent it before without naming it.",
  },
  {
    id: "S-SUB-06",
    level: "must",
    scope: "gRPC",
    says: "A name that was given up and is named again counts as new.",
  },
  {
    id: "B-SUB-07",
    level: "must",
    scope: "gRPC",
    says: "`*` means everything that the server has for this node.",
  },
  {
    id: "S-SUB-08",
    level: "may",
    scope: "gRPC",
    says: "An empty first request means everything, for any type.",
    amended:
      "For clients that are not known. Envoy means it for Listeners, Clusters and scoped routes (and the base set of VirtualHosts); gRPC clients never mean it.",
  },
  {
    id: "S-SUB-09",
    level: "must",
    scope: "gRPC",
    says: "As long as a client has named nothing of a type on a stream, empty goes on meaning everything.",
  },
  {
    id: "S-SUB-10",
    level: "must",
    scope: "gRPC",
    says: "After the first name, empty means nothing.",
  },
  {
    id: "S-SUB-11",
    level: "must",
    scope: "State of the World",
    says: "Empty, then `*` and A, then A, then empty: everything; everything and A; A; nothing.",
    amended: "A is named anew in the second request, so it is answered.",
  },
  {
    id: "S-SUB-12",
    level: "must",
    scope: "delta",
    says: "Empty, then A, then `*` given up, then A given up: everything; everything and A; A; nothing.",
  },
  {
    id: "S-SUB-13",
    level: "must",
    scope: "gRPC",
    says: "A name alone ends the wildcard of an empty request in State of the World, and stands beside it in delta.",
  },
  {
    id: "S-SUB-14",
    level: "may",
    scope: "gRPC",
    says: "The old reading, by which a type that began as a wildcard stays one, can be switched on (`wildcardSticky`).",
  },
  {
    id: "S-SUB-15",
    level: "must",
    scope: "delta",
    says: "A first request that only gives up names is no wildcard.",
  },
  {
    id: "S-SUB-16",
    level: "must",
    scope: "delta",
    says: "Giving up `*` ends a wildcard that began with an empty request.",
  },
  {
    id: "S-SUB-19",
    level: "must",
    scope: "everywhere",
    says: "A name is remembered until it is given up, whether it exists or not.",
  },
  {
    id: "S-SUB-20",
    level: "must",
    scope: "gRPC",
    says: "A name that is listed twice counts once.",
  },
  {
    id: "S-SUB-22",
    level: "must",
    scope: "gRPC",
    says: "Names can stand beside a wildcard, also names that the wildcard does not cover.",
  },
  {
    id: "S-SUB-23",
    level: "must",
    scope: "State of the World",
    says: "The latest request of a type says all that is wanted of it.",
  },
  {
    id: "S-NEX-06",
    level: "must",
    scope: "delta",
    says: "A named resource that does not exist is reported at once as removed.",
    amended:
      "Envoy is told nothing of missing routes and extension configurations, and of missing VirtualHosts by a resource without a body. A name that only an older state of the client refers to is reported once the newest was sent.",
  },
  {
    id: "S-NEX-07",
    level: "may",
    scope: "delta",
    says: "Older editions say it by a resource without a body, or not at all; both can be switched on (`deltaMissing`), never two at once.",
  },
  {
    id: "S-NEX-09",
    level: "must",
    scope: "delta",
    says: "A missing name stays subscribed: it is pushed when it exists, and reported again when asked for again.",
  },
  {
    id: "S-NEX-11",
    level: "should",
    scope: "delta",
    says: "What exists and what does not go into one response.",
  },
  {
    id: "S-UNS-03",
    level: "must",
    scope: "everywhere",
    says: "Nothing more is pushed of a name that was given up.",
  },
  {
    id: "S-UNS-04",
    level: "may",
    scope: "gRPC",
    says: "A request that only gives up names is not answered.",
  },
  {
    id: "S-UNS-05",
    level: "must",
    scope: "delta",
    says: "Giving up a name that was never subscribed to does no harm.",
  },
  {
    id: "S-UNS-06",
    level: "must",
    scope: "delta",
    says: "Under a wildcard, giving up a name is answered: with the resource if the wildcard covers it, as removed if not.",
  },
  {
    id: "B-UNS-08",
    level: "must",
    scope: "gRPC",
    says: "A wildcard is given up as a whole; single names cannot be taken out of it.",
  },
  {
    id: "B-UNS-10",
    level: "must",
    scope: "delta",
    says: "An alias can be given up like a name.",
  },
  {
    id: "B-UNS-11",
    level: "must",
    scope: "delta",
    says: "A name that one request both asks for and gives up is given up.",
  },
];
