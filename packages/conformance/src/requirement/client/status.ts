import type { Requirement } from "../requirement.ts";

/** VHD, ODC, ECD, LED, TRD, LRS, CSD, HDS: on-demand resources, load reports, client status, health. */
export const statusRules: readonly Requirement[] = [
  {
    id: "B-VHD-01",
    level: "must",
    scope: "delta",
    says: "The name of a virtual host is that of its route configuration, a slash, and a host.",
  },
  {
    id: "C-VHD-02",
    level: "must",
    scope: "delta",
    says: "A request for a host without routes waits while its virtual host is asked for.",
  },
  {
    id: "C-VHD-06",
    level: "must",
    scope: "delta",
    says: "A virtual host that comes again unchanged is no news.",
  },
  {
    id: "C-ODC-01",
    level: "must",
    scope: "delta",
    says: "A request for an unknown cluster waits until the cluster comes, does not exist, or 5 s are over.",
  },
  {
    id: "C-ODC-03",
    level: "must",
    scope: "everywhere",
    says: "Routes of a scope on demand are asked for at its first use.",
  },
  {
    id: "B-ECD-01",
    level: "must",
    scope: "everywhere",
    says: "The configuration of an extension is asked for by the name of the filter, in every way that there is.",
  },
  {
    id: "C-ECD-02",
    level: "must",
    scope: "everywhere",
    says: "What holds an extension warms until it is configured, unless it may start with a default.",
  },
  {
    id: "C-ECD-03",
    level: "must",
    scope: "everywhere",
    says: "If the configuration does not come in time the default serves, or the extension is off.",
  },
  {
    id: "C-ECD-04",
    level: "must",
    scope: "everywhere",
    says: "A configuration of a type that was not allowed is refused.",
  },
  {
    id: "B-LED-01",
    level: "must",
    scope: "delta",
    says: "Single endpoints are asked for by their collection, in delta.",
  },
  {
    id: "B-TRD-01",
    level: "must",
    scope: "ADS",
    says: "Types without a service of their own are asked for by their URL on an aggregated stream, or read from files.",
  },
  {
    id: "C-LRS-01",
    level: "must",
    scope: "gRPC",
    says: "Load is reported to whom a cluster says; the first message says who reports, and no load.",
  },
  {
    id: "C-LRS-04",
    level: "must",
    scope: "gRPC",
    says: "Each interval reports what happened since the last, with the time that really passed.",
  },
  {
    id: "C-LRS-05",
    level: "must",
    scope: "gRPC",
    says: "Clusters that go on being asked about lose no counts; new ones start at nothing.",
  },
  {
    id: "C-LRS-07",
    level: "must",
    scope: "gRPC",
    says: "Reports have a stream of their own, which is opened again like any other.",
  },
  {
    id: "C-CSD-03",
    level: "must",
    scope: "everywhere",
    says: "The client tells of itself: what it holds, since when, in what version and state, and what was refused and why.",
  },
  {
    id: "B-CSD-04",
    level: "must",
    scope: "everywhere",
    says: "Each resource is told with its type; contents can be left out.",
  },
  {
    id: "B-CSD-05",
    level: "must",
    scope: "everywhere",
    says: "The form of v2 is older and tells less.",
  },
  {
    id: "B-HDS-01",
    level: "may",
    scope: "gRPC",
    says: "A client can be told what to check, and report how healthy it is.",
  },
];
