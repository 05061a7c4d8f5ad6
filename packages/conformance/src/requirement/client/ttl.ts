import type { Requirement } from "../requirement.ts";

/** TTL: resources that expire. */
export const ttlRules: readonly Requirement[] = [
  {
    id: "C-TTL-03",
    level: "must",
    scope: "everywhere",
    says: "The features of the node say that ttls are kept, also in State of the World.",
  },
  {
    id: "C-TTL-04",
    level: "must",
    scope: "everywhere",
    says: "A wrapper around a resource is taken off, with a ttl or without. Two names that differ are a mistake.",
  },
  {
    id: "C-TTL-05",
    level: "must",
    scope: "everywhere",
    says: "A resource that comes with a ttl has until then from its arrival; one that comes without lasts.",
  },
  {
    id: "C-TTL-06",
    level: "must",
    scope: "everywhere",
    says: "Ttls run with a connection or without one. What expired is not used, and nothing older takes its place.",
  },
  {
    id: "C-TTL-07",
    level: "must",
    scope: "everywhere",
    says: "When something expires nothing is sent: it is still asked for, and no longer among the held.",
  },
  {
    id: "C-TTL-10",
    level: "must",
    scope: "delta",
    says: "A heartbeat makes a resource last longer. It is acknowledged, and nobody is told.",
  },
  {
    id: "C-TTL-11",
    level: "must",
    scope: "State of the World",
    says: "So it is with a wrapper without a resource, whose version is compared with the one the resource came with.",
  },
  {
    id: "C-TTL-13",
    level: "must",
    scope: "State of the World, full-state types",
    says: "A heartbeat says that its resource is there.",
  },
  {
    id: "C-TTL-15",
    level: "should",
    scope: "everywhere",
    says: "A heartbeat of what is not held in that version is refused if it tells a version, and otherwise says that there is none (`badHeartbeat`).",
  },
  {
    id: "B-TTL-17",
    level: "must",
    scope: "delta",
    says: "A virtual host without a body does not exist; it has no heartbeats.",
  },
  {
    id: "B-TTL-18",
    level: "must",
    scope: "everywhere",
    says: "Nothing of v2 expires.",
  },
  {
    id: "B-TTL-19",
    level: "must",
    scope: "everywhere",
    says: "A ttl of nothing, or less, is a mistake.",
  },
];
