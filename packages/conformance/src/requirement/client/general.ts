import type { Requirement } from "../requirement.ts";

/** GEN, TYP, GRP, NOD: types, streams, and how the client identifies itself. */
export const generalRules: readonly Requirement[] = [
  {
    id: "B-GEN-01",
    level: "must",
    scope: "everywhere",
    says: "Every type can be asked for in every way that exists for it, in both versions of the API: on its own stream and on the aggregated one, in State of the World and delta, by REST and from files.",
    amended: "VHDS is asked for in delta only. There is no ADS and no delta by REST or in files.",
  },
  {
    id: "B-GEN-02",
    level: "must",
    scope: "everywhere",
    says: "What is taken is a whole resource in place of the one before. Nothing inside it is merged.",
  },
  {
    id: "B-GEN-03",
    level: "must",
    scope: "everywhere",
    says: 'Versions and nonces are compared for equality and given back as they came; an "older" one is a version like any other.',
  },
  {
    id: "B-GEN-06",
    level: "must",
    scope: "per-type streams",
    says: "Types on separate streams are independent: one that stands still, or fails, holds no other up.",
  },
  {
    id: "B-TYP-01",
    level: "must",
    scope: "everywhere",
    says: "Types are known by `type.googleapis.com/` and the full name of their message.",
  },
  {
    id: "B-TYP-02",
    level: "must",
    scope: "per-type streams",
    says: "A stream of one type asks for that type for as long as it lives.",
  },
  {
    id: "B-TYP-08",
    level: "must",
    scope: "everywhere",
    says: "The version of the methods that are called and the version of the types that are asked for are chosen separately.",
  },
  {
    id: "C-TYP-11",
    level: "must",
    scope: "everywhere",
    says: "`transport_api_version` chooses methods and paths, `resource_api_version` the type URLs, for each source by itself.",
    amended: "AUTO means v3; `autoVersion` makes it v2.",
  },
  {
    id: "C-TYP-12",
    level: "must",
    scope: "gRPC",
    says: "A response in which a resource has another type than the response says is refused.",
  },
  {
    id: "C-TYP-13",
    level: "must",
    scope: "ADS",
    says: "A response of a type that was never asked for on this stream changes nothing and is not answered.",
  },
  {
    id: "C-TYP-14",
    level: "may",
    scope: "everywhere",
    says: "A resource in the other version of the API can be taken for one of the type that was asked for (`acceptTwinTypes`).",
  },
  {
    id: "C-GRP-09",
    level: "must",
    scope: "gRPC",
    says: "A source that is not aggregated has a stream for each type, and each may lead to another server.",
  },
  {
    id: "C-GRP-11",
    level: "may",
    scope: "gRPC",
    says: "All names of a type at one source are asked for on one stream.",
  },
  {
    id: "B-GRP-08",
    level: "must",
    scope: "gRPC",
    says: "Responses beyond the 4 MiB that gRPC libraries take by default are taken.",
    amended: "256 MiB unless set otherwise; beyond it the stream ends with RESOURCE_EXHAUSTED.",
  },
  {
    id: "C-NOD-01",
    level: "must",
    scope: "gRPC",
    says: "The first request of each stream says who the client is.",
  },
  {
    id: "C-NOD-02",
    level: "may",
    scope: "gRPC",
    says: "Later requests say it again or not, as the source is configured.",
    amended:
      "`nodeIn`; sources that a bootstrap names say it every time unless `set_node_on_first_message_only` is set.",
  },
  {
    id: "C-NOD-03",
    level: "must",
    scope: "gRPC",
    says: "What is said again of the node is the same.",
  },
  {
    id: "B-NOD-07",
    level: "may",
    scope: "everywhere",
    says: "Saying the node in every request is allowed.",
  },
  {
    id: "C-NOD-08",
    level: "must",
    scope: "everywhere",
    says: "The node names this library, its version, and the features that the client really has.",
  },
];
