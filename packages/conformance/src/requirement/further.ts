/**
 * Something beside requirements that cases prove: a diagram, an open point, a trap, a row on which editions disagree.
 */
export interface Point {
  readonly id: string;
  readonly says: string;
  /** Why it does not concern servers. */
  readonly elsewhere?: string;
}

/** The sequence diagrams of the protocol page. */
export const diagrams: readonly Point[] = [
  { id: "D1", says: "a request, its response, its ACK" },
  { id: "D2", says: "a NACK at the first response" },
  { id: "D3", says: "a change after a NACK" },
  { id: "D4", says: "a NACK whose version is the one that was sent" },
  { id: "D5", says: "two names on one EDS stream" },
  { id: "D6", says: "two EDS streams to two servers" },
  { id: "D7", says: "clusters from one server, their endpoints from another" },
  { id: "D8", says: "a widened request that crosses an update" },
  { id: "D9", says: "stale requests" },
  { id: "D10", says: "clusters and endpoints on one aggregated stream" },
  { id: "D11", says: "delta: a push, a NACK, one more name" },
  { id: "D12", says: "delta: coming back with what is held" },
  { id: "D13", says: "virtual hosts: the base set" },
  { id: "D14", says: "virtual hosts: one more for a request that waits" },
];

/** Points that the protocol leaves open and cases decide. */
export const openPoints: readonly Point[] = [
  { id: "O-1", says: "a name asked for and given up in one delta request" },
  { id: "O-2", says: "a first delta request that only gives up names" },
  { id: "O-3", says: "a name that a new delta stream both asks for and holds" },
  { id: "O-4", says: "names in a stale request" },
  { id: "O-5", says: "no nonce in mid-stream" },
  { id: "O-7", says: "an unknown type on an aggregated stream" },
  { id: "O-8", says: "a refused removal" },
  { id: "O-9", says: "everything given up, then the same name again" },
  { id: "O-10", says: "scoped routes in State of the World" },
  { id: "O-11", says: "an empty request for endpoints" },
  { id: "O-13", says: "a resource whose body has no name" },
  { id: "O-14", says: "a delta response that holds nothing" },
];

/** Behaviour of real clients that is known to break control planes. */
export const traps: readonly Point[] = [
  { id: "T-A1", says: "more names under an old version and nonce" },
  { id: "T-A2", says: "a NACK that carries the new version" },
  { id: "T-A3", says: "an error and new names in one request" },
  { id: "T-A4", says: "refusing everything" },
  { id: "T-A5", says: "a rollback after a NACK" },
  { id: "T-A6", says: "a nonce from another stream" },
  { id: "T-A7", says: "stale nonces of all kinds" },
  { id: "T-A8", says: "restarts and replicas" },
  { id: "T-A9", says: "names in any order, and twice" },
  { id: "T-A10", says: "empty name lists" },
  { id: "T-A11", says: "a star among names" },
  { id: "T-A12", says: "no ACK at all" },
  { id: "T-A13", says: "nothing to do" },
  { id: "T-A14", says: "long and odd error texts" },
  { id: "T-A15", says: "late ACKs under many changes" },
  { id: "T-A16", says: "an ACK of clusters that is withheld until they are warm" },
  { id: "T-B1", says: "a changed cluster, in State of the World" },
  { id: "T-B2", says: "a changed cluster, in delta" },
  { id: "T-B4", says: "a new cluster with known endpoints" },
  { id: "T-B5", says: "names of which some do not exist" },
  { id: "T-B8", says: "a request per resource, in a burst" },
  { id: "T-B9", says: "an empty world, and one that is not known yet" },
  { id: "T-B10", says: "endpoints asked for before clusters" },
  { id: "T-B11", says: "types in any order after a reconnect" },
  { id: "T-B12", says: "a route to a cluster that is not there yet, or not any more" },
  { id: "T-B13", says: "endpoints that nobody asked for" },
  { id: "T-B14", says: "names of what is long gone" },
  { id: "T-C2", says: "deleting what State of the World cannot delete" },
  { id: "T-C4", says: "quiet after unsubscribing" },
  { id: "T-D1", says: "what was deleted while the client was away" },
  { id: "T-D2", says: "a wildcard and names, before and after a reconnect" },
  { id: "T-D3", says: "a name given up under a wildcard" },
  { id: "T-D4", says: "subscribing again, and reporting what is held" },
  { id: "T-D5", says: "an ACK that also subscribes" },
  { id: "T-D6", says: "something removed that comes back" },
  { id: "T-D7", says: "put, delete, put before the client has answered" },
  { id: "T-D9", says: "more than one response should hold" },
  { id: "T-F1", says: "a client that takes no more than 4 MiB at once" },
  { id: "T-E1", says: "ttls and heartbeats to clients that do not know them" },
  { id: "T-E2", says: "a refresh of listeners or clusters that lists only some" },
  { id: "T-E3", says: "heartbeats that State of the World clients do not count" },
  { id: "T-E4", says: "what expired while the client was away" },
  { id: "T-E5", says: "wrappers around resources without a ttl" },
  { id: "T-E6", says: "a ttl whose end crashes a client" },
  { id: "T-F3", says: "half-close and cancel" },
  { id: "T-F6", says: "several streams of one node" },
  { id: "T-F9", says: "nodes that are missing or change" },
  { id: "T-G1", says: "no type URL" },
  { id: "T-G2", says: "an unknown type URL" },
  { id: "T-G3", says: "another type on a per-type stream" },
  { id: "T-G4", says: "a type URL without its prefix" },
  { id: "T-G7", says: "xdstp names with parameters in any order" },
  { id: "T-H3", says: "a host that nobody has" },
  { id: "T-H4", says: "a cluster asked for by a request" },
  { id: "T-I1", says: "a poll of 73 KB in the names of the proto files" },
  { id: "T-I3", says: "names that change under an unchanged version" },
  { id: "T-I4", says: "polls at an old version" },
  { id: "T-I5", says: "a poll that is held for longer than its client waits" },
  { id: "T-I6", says: "a warming cluster that polls anew" },
  { id: "T-H6", says: "a filter whose configuration is deleted" },
];
