import type { Requirement } from "./requirement.ts";

/** VHD, ODC, ECD, LED, TRD, XTP: on-demand resources, and their names. */
export const onDemandRequirements: readonly Requirement[] = [
  {
    id: "B-VHD-01",
    level: "must",
    scope: "delta",
    says: "A virtual host is named by its route configuration and its host, which are told apart at the last slash.",
  },
  {
    id: "S-VHD-03",
    level: "must",
    scope: "delta",
    says: "An asked host is answered by the virtual host whose domains it falls under, under the name of that, with the asked name among its aliases.",
    amended:
      "The most specific domain counts: equal, longest ending, longest beginning, star. When a better one comes the client is given that in the place of the other.",
  },
  {
    id: "S-VHD-04",
    level: "must",
    scope: "delta",
    says: "A first request without names is given the base set; after a change of their route configuration the subscribed virtual hosts are sent again.",
    amended: "The base set is what is not on demand.",
  },
  {
    id: "S-VHD-05",
    level: "must",
    scope: "delta",
    says: "An unknown host is reported as removed.",
    amended: "To Envoy by a resource without a body that lists the name as an alias: it would wait for ever otherwise.",
  },
  {
    id: "S-ODC-02",
    level: "must",
    scope: "delta",
    says: "A cluster is asked for by name beside the wildcard, or on a stream of its own, whether or not the wildcard covers it.",
  },
  {
    id: "B-ECD-01",
    level: "must",
    scope: "everywhere",
    says: "The configuration of an extension is asked for by the name of its filter, in both variants, on streams of its own and on aggregated ones.",
  },
  {
    id: "B-LED-01",
    level: "must",
    scope: "delta",
    says: "Single endpoints are asked for by a glob collection that a ClusterLoadAssignment names, in delta only.",
    amended: "They are sent again when the ClusterLoadAssignment is: a cluster that warms waits for them anew.",
  },
  {
    id: "B-TRD-01",
    level: "must",
    scope: "ADS",
    says: "Routes of Thrift, and other types without a service of their own, are served by their type URL alone.",
  },
  {
    id: "B-XTP-01",
    level: "must",
    scope: "everywhere",
    says: "`xdstp://authority/type/id?parameters#directives` is read and printed with percent-encoding.",
    amended: "Compared decoded; directives are passed over.",
  },
  {
    id: "B-XTP-02",
    level: "must",
    scope: "everywhere",
    says: "Names are equal if authority, type, id and parameters are, in whatever order the parameters stand.",
    amended: "Printed with the parameters sorted.",
  },
  {
    id: "S-XTP-04",
    level: "must",
    scope: "everywhere",
    says: "An answer carries the parameters that were asked for, no more and no less.",
  },
  {
    id: "B-XTP-05",
    level: "must",
    scope: "delta",
    says: "A glob collection is answered by each of its members as a resource of its own, and reported as removed if it has none.",
    amended: "State of the World is given the members too, and nothing of a glob without any.",
  },
  {
    id: "S-XTP-06",
    level: "must",
    scope: "everywhere",
    says: "Members of a glob collection stand directly in its directory and have exactly its parameters.",
  },
  {
    id: "S-XTP-13",
    level: "must",
    scope: "gRPC",
    says: "A star inside a name that is no xdstp name stands for nothing, but for the name that is a star.",
    amended: "`prefixGlob` lets `foo/*` stand for every name that begins with `foo/`.",
  },
  {
    id: "S-MSC-08",
    level: "may",
    scope: "gRPC",
    says: "An empty first request can mean nothing, for each type by itself.",
    amended: "`wildcardTypes` says so, and for clients that are known to mean nothing by it their row does.",
  },
];
