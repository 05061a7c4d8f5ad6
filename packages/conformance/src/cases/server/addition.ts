import type { Case } from "../../case.ts";

/** MSC: optional fields of resources and responses. */
export const additionCases: readonly Case[] = [
  {
    id: "B-MSC-01",
    also: ["S-MSC-02"],
    says: "passes cache control and metadata on unchanged, fields in it that nobody knows too, and a change of them alone",
    variant: "delta",
    type: "cds",
    steps: [
      { publishes: { cds: [{ is: "a@1", doNotCache: true, metadata: "x" }, "b@1"] } },
      { receives: {}, sends: [{ resources: ["a@1 not cached with metadata x", "b@1"] }] },
      { receives: { ack: true } },
      {
        publishes: { cds: [{ is: "a@1", doNotCache: true, metadata: "y" }] },
        sends: [{ resources: ["a@1 not cached with metadata y"] }],
      },
      { receives: { ack: true } },
      { publishes: { cds: [{ is: "a@1", metadata: "y" }] }, sends: [{ resources: ["a@1 with metadata y"] }] },
    ],
  },
  {
    id: "S-MSC-02",
    also: ["B-MSC-01", "S-TTL-02"],
    says: "passes metadata on in the wrapper that a ttl has in State of the World",
    variant: "sotw",
    type: "rds",
    steps: [
      { publishes: { rds: [{ is: "a@1", ttl: 60_000, doNotCache: true, metadata: "x" }] } },
      {
        receives: {
          names: ["a"],
          node: { id: "n1", features: ["xds.config.supports-resource-ttl", "xds.config.resource-in-sotw"] },
        },
        sends: [{ resources: ["a@1 not cached with metadata x for 60000 ms"] }],
      },
    ],
  },
  {
    id: "B-MSC-03",
    says: "marks responses of a type as canary, and sends nothing for that alone",
    variant: "sotw",
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"], canaries: { cds: true } } },
      { receives: {}, sends: [{ resources: ["a@1"], canary: true }] },
      { receives: { ack: true } },
      { publishes: { canaries: { cds: false } } },
      { publishes: { cds: ["a@2"] }, sends: [{ resources: ["a@2"] }] },
    ],
  },
  {
    id: "S-MSC-08",
    says: "takes an empty first request for everything, or for nothing where that is switched off",
    variant: "sotw",
    type: "rds",
    setup: { dialect: { wildcardTypes: { otherwise: false } } },
    steps: [
      { publishes: { rds: ["a@1"] } },
      { receives: {} },
      { receives: { names: ["a"] }, sends: [{ resources: ["a@1"] }] },
    ],
  },
  {
    id: "S-MSC-08/on",
    says: "takes an empty first request for everything where nothing is switched",
    variant: "sotw",
    type: "rds",
    steps: [{ publishes: { rds: ["a@1"] } }, { receives: {}, sends: [{ resources: ["a@1"] }] }],
  },
  {
    id: "S-MSC-08",
    says: "takes an empty first request for everything, or for nothing where that is switched off",
    variant: "delta",
    type: "rds",
    setup: { dialect: { wildcardTypes: { otherwise: false } } },
    steps: [
      { publishes: { rds: ["a@1"] } },
      { receives: {} },
      { receives: { subscribe: ["a"] }, sends: [{ resources: ["a@1"] }] },
    ],
  },
  {
    id: "S-XTP-13",
    says: "takes a star within an old name for nothing but a character",
    variant: "delta",
    type: "cds",
    steps: [
      { publishes: { cds: ["foo/a@1", "foo/*@1"] } },
      { receives: { subscribe: ["foo/*", "fo*"] }, sends: [{ resources: ["foo/*@1"], removed: ["fo*"] }] },
      { receives: { ack: true } },
      { publishes: { cds: ["foo/b@1", "fox@1"] } },
    ],
  },
];
