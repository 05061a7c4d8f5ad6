import type { Requirement } from "./requirement.ts";

/** TTL: expiry and heartbeats. */
export const ttlRequirements: readonly Requirement[] = [
  {
    id: "S-TTL-01",
    level: "must",
    scope: "delta",
    says: "A resource carries its ttl only for clients that announce `xds.config.supports-resource-ttl`.",
    amended:
      "Or whose row in the dialect says that they know it, as Envoy's does. `ttlWithoutFeature` takes everybody for one.",
  },
  {
    id: "S-TTL-02",
    level: "must",
    scope: "State of the World",
    says: "A ttl travels in a `Resource` inside the `Any`, for clients that announce both the ttl and the wrapper, the latter in either spelling.",
    amended: "Or by their row. Nothing is wrapped that has no ttl.",
  },
  {
    id: "S-TTL-08",
    level: "must",
    scope: "gRPC",
    says: "Another ttl, or none, is told by sending the resource again, though its version is the same.",
  },
  {
    id: "S-TTL-09",
    level: "must",
    scope: "delta",
    says: "A heartbeat is a resource without a body, with its name, its ttl, and the version that was sent last.",
    amended:
      "In State of the World, where Envoy does not count those, the whole resource is sent again at the same version.",
  },
  {
    id: "S-TTL-12",
    level: "must",
    scope: "State of the World, full-state types",
    says: "What keeps a resource alive lists all the others too, because what is absent is deleted.",
  },
  {
    id: "S-TTL-14",
    level: "should",
    scope: "gRPC",
    says: "Heartbeats come well before the end, not right after a response that said as much, and no more once the stream ended or the name was given up.",
    amended: "Every third of the shortest ttl, for each view and type.",
  },
  {
    id: "S-TTL-16",
    level: "should",
    scope: "delta",
    says: "After a heartbeat that was refused the whole resource is sent once.",
  },
  {
    id: "B-TTL-17",
    level: "must",
    scope: "delta",
    says: "A virtual host has no heartbeats: one without a body is an unknown one.",
    amended: "So its ttl is left off.",
  },
  {
    id: "B-TTL-18",
    level: "must",
    scope: "gRPC",
    says: "Messages of v2 carry no ttl.",
  },
  {
    id: "B-TTL-19",
    level: "must",
    scope: "everywhere",
    says: "A ttl is more than 0; another one is refused when it enters.",
  },
];
