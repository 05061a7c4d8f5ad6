import type { Requirement } from "./requirement.ts";

/** ORD: make before break. */
export const orderRequirements: readonly Requirement[] = [
  {
    id: "S-ORD-01",
    level: "must",
    scope: "ADS",
    says: "One change of many types is told in the order clusters, endpoints, listeners, routes, virtual hosts, without those that did not change.",
    amended: "Removals of listeners and scopes travel with what is added. Only removals of clusters come last.",
  },
  {
    id: "S-ORD-02",
    level: "must",
    scope: "ADS",
    says: "The endpoints of a cluster are sent after the cluster.",
  },
  {
    id: "S-ORD-03",
    level: "must",
    scope: "ADS",
    says: "Listeners are sent after the clusters and endpoints that they need, and routes after all of those.",
  },
  {
    id: "S-ORD-04",
    level: "must",
    scope: "delta ADS",
    says: "Virtual hosts are sent after the routes that they belong to.",
  },
  {
    id: "S-ORD-05",
    level: "must",
    scope: "ADS",
    says: "A cluster is removed last, when nothing refers to it any more: until then State of the World lists old and new ones.",
    amended:
      "The union has a version of its own. Delta is told after the cluster that its endpoints are gone. `makeBeforeBreak` turns the order off.",
  },
  {
    id: "S-ORD-06",
    level: "must",
    scope: "gRPC",
    says: "A step that would lose traffic waits for the ACK of the step before it, for a bounded time; a refused route keeps the clusters that it was to replace.",
    amended:
      "Routes wait for the clusters that they name; on streams of their own for the endpoints of those. A cluster in use that gets another EDS name waits for the endpoints of that. Removals wait for everything that may use a cluster. 30 s (`orderLimitMs`) end a wait for a client that says nothing, never that for a refused one. A client that came back and did not ask for clusters in a second (`resumeGraceMs`; on separate streams 30 s, `separateResumeGraceMs`; an Envoy on ADS 30 s, `orderLimitMs`) has its own. What waits is sent as it was when its wait began, should the newest have to wait longer.",
  },
  {
    id: "S-ORD-07",
    level: "must",
    scope: "ADS",
    says: "Secrets are sent before what uses them, scopes together with routes, runtime at any time.",
    amended: "Scopes before their routes: a client asks for those when it knows the scope.",
  },
  {
    id: "S-ORD-08",
    level: "may",
    scope: "everywhere",
    says: "What adds and removes nothing may be sent in any order.",
  },
  {
    id: "S-ORD-09",
    level: "must",
    scope: "everywhere",
    says: "That a route names clusters that exist is the operator's affair; the server can check it.",
  },
  {
    id: "S-ORD-10",
    level: "must",
    scope: "ADS",
    says: "A change in mid-sequence replaces what the sequence leads to, and removes nothing that the client may still use.",
  },
];
