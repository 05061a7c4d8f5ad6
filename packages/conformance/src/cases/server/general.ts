import type { Variant } from "@xdskit/protocol";
import type { Case, StreamKind } from "../../case.ts";
import { hasOwnStream, hasRest, type TypeName } from "../../content/catalog.ts";

const everyType: readonly TypeName[] = ["lds", "rds", "srds", "vhds", "cds", "eds", "sds", "rtds", "ecds"];
const bothVariants: readonly Variant[] = ["sotw", "delta"];

/** One resource and its ACK for every combination of type, variant and kind of stream. */
const everyCell: readonly Case[] = bothVariants.flatMap((variant) =>
  everyType.map((type) => ({
    id: `B-GEN-01/${type}`,
    says: `delivers one resource of ${type} and takes the ACK`,
    variant,
    type,
    streams: cellsOf(type, variant),
    steps: [
      { publishes: { [type]: ["a@1"] } },
      {
        receives: variant === "sotw" ? { names: ["a"] } : { subscribe: ["a"] },
        sends: [{ resources: ["a@1"], as: "A" }],
      },
      { receives: { ack: true }, reports: [{ acked: "A" }] },
    ],
  })),
);

function cellsOf(type: TypeName, variant: Variant): readonly StreamKind[] {
  if (!hasOwnStream(type, variant)) return ["ads"];
  return variant === "sotw" && hasRest(type) ? ["ads", "per-type", "rest"] : ["ads", "per-type"];
}

/** GEN: rules for every type and stream. */
export const generalCases: readonly Case[] = [
  ...everyCell,
  {
    id: "B-GEN-02",
    says: "sends a changed resource whole",
    variant: "delta",
    type: "eds",
    steps: [
      { publishes: { eds: [{ is: "a@1", padding: 5_000 }, "b@1"] } },
      { receives: { subscribe: ["a", "b"] }, sends: [{ resources: ["a@1", "b@1"] }] },
      { receives: { ack: true } },
      { publishes: { eds: [{ is: "a@2", padding: 5_000 }] }, sends: [{ resources: ["a@2"] }] },
    ],
  },
  {
    id: "B-GEN-03",
    says: "goes from version b to version a as from any version to any other",
    variant: "sotw",
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"], versions: { cds: "b" } } },
      { receives: { names: [] }, sends: [{ resources: ["a@1"], version: "is b", as: "B" }] },
      { receives: { ack: true }, reports: [{ acked: "B" }] },
      {
        publishes: { cds: ["a@2"], versions: { cds: "a" } },
        sends: [{ resources: ["a@2"], version: "is a", as: "A" }],
      },
      { receives: { ack: true }, reports: [{ acked: "A" }] },
    ],
  },
  {
    id: "S-GEN-04",
    also: ["T-G2"],
    says: "serves a type that it has no schema of, by names",
    variant: "sotw",
    type: "opaque",
    steps: [
      { publishes: { opaque: ["p@1", "q@1"] } },
      { receives: { names: ["p"] }, sends: [{ resources: ["p@1"] }] },
      { receives: { ack: true } },
      { publishes: { opaque: ["p@2", "q@2"] }, sends: [{ resources: ["p@2"] }] },
    ],
  },
  {
    id: "S-GEN-04",
    also: ["T-G2", "O-13"],
    says: "serves a type that it has no schema of, under the wrapper's name",
    variant: "delta",
    type: "opaque",
    steps: [
      { publishes: { opaque: ["p@1", "q@1"] } },
      { receives: { subscribe: ["p"] }, sends: [{ resources: ["p@1"] }] },
      { receives: { ack: true } },
      { publishes: { opaque: ["-p", "q@2"] }, sends: [{ removed: ["p"] }] },
    ],
  },
  {
    id: "S-GEN-05",
    also: ["T-F6", "S-GRP-10"],
    says: "keeps two streams of one node apart",
    variant: "sotw",
    type: "eds",
    steps: [
      { publishes: { eds: ["a@1", "b@1"] } },
      { receives: { names: ["a"] }, on: "first", sends: [{ on: "first", resources: ["a@1"] }] },
      { receives: { names: ["b"] }, on: "second", sends: [{ on: "second", resources: ["b@1"] }] },
      { receives: { ack: true }, on: "first" },
      { receives: { ack: true }, on: "second" },
      { publishes: { eds: ["b@2"] }, sends: [{ on: "second", resources: ["b@2"] }] },
      { receives: { ack: true }, on: "second" },
      { publishes: { eds: ["a@2"] }, sends: [{ on: "first", resources: ["a@2"] }] },
    ],
  },
  {
    id: "S-GEN-05",
    also: ["T-F6", "S-GRP-10"],
    says: "keeps two streams of one node apart",
    variant: "delta",
    type: "eds",
    steps: [
      { publishes: { eds: ["a@1", "b@1"] } },
      { receives: { subscribe: ["a"] }, on: "first", sends: [{ on: "first", resources: ["a@1"] }] },
      { receives: { subscribe: ["b"] }, on: "second", sends: [{ on: "second", resources: ["b@1"] }] },
      { receives: { ack: true }, on: "first" },
      { receives: { nack: "not this one" }, on: "second" },
      {
        publishes: { eds: ["a@2", "b@2"] },
        sends: [
          { on: "first", resources: ["a@2"] },
          { on: "second", resources: ["b@2"] },
        ],
      },
    ],
  },
  {
    id: "B-GEN-06",
    says: "goes on with one type while another waits for its ACK on a stream of its own",
    variant: "sotw",
    type: "cds",
    streams: ["per-type"],
    steps: [
      { publishes: { cds: ["c@1"], eds: ["e@1"] } },
      { opens: { endpoints: { kind: "eds" } } },
      { receives: { names: ["e"] }, on: "endpoints", sends: [{ on: "endpoints", type: "eds", resources: ["e@1"] }] },
      { receives: { names: [] }, sends: [{ resources: ["c@1"] }] },
      { receives: { ack: true } },
      { publishes: { cds: ["c@2"] }, sends: [{ resources: ["c@2"] }] },
      { receives: { ack: true } },
      { publishes: { cds: ["c@3"] }, sends: [{ resources: ["c@3"] }] },
      { receives: { type: "eds", ack: true }, on: "endpoints" },
      { publishes: { eds: ["e@2"] }, sends: [{ on: "endpoints", type: "eds", resources: ["e@2"] }] },
    ],
  },
  {
    id: "S-GEN-07",
    says: "gives each node the resources of its own layers",
    variant: "sotw",
    type: "cds",
    setup: { nodeMapping: { n1: ["node/n1", "base"], n2: ["group/blue", "base"] } },
    steps: [
      {
        publishes: [
          { cds: ["shared@1", "a@1"] },
          { layer: "node/n1", cds: ["a@2"] },
          { layer: "group/blue", cds: ["b@1"] },
        ],
      },
      { opens: { one: { node: "n1" }, two: { node: "n2" }, three: { node: "n3" } } },
      { receives: { names: [] }, on: "one", sends: [{ on: "one", resources: ["shared@1", "a@2"] }] },
      { receives: { names: [] }, on: "two", sends: [{ on: "two", resources: ["shared@1", "a@1", "b@1"] }] },
      { receives: { names: [] }, on: "three", sends: [{ on: "three", resources: ["shared@1", "a@1"] }] },
    ],
  },
  {
    id: "S-GEN-07",
    says: "gives each node the resources of its own layers",
    variant: "delta",
    type: "cds",
    setup: { nodeMapping: { n1: ["node/n1", "base"], n2: ["group/blue", "base"] } },
    steps: [
      {
        publishes: [
          { cds: ["shared@1", "a@1"] },
          { layer: "node/n1", cds: ["a@2"] },
          { layer: "group/blue", cds: ["b@1"] },
        ],
      },
      { opens: { one: { node: "n1" }, two: { node: "n2" } } },
      { receives: {}, on: "one", sends: [{ on: "one", resources: ["shared@1", "a@2"] }] },
      { receives: { ack: true }, on: "one" },
      { receives: {}, on: "two", sends: [{ on: "two", resources: ["shared@1", "a@1", "b@1"] }] },
      { receives: { ack: true }, on: "two" },
      { publishes: { cds: ["a@3"] }, sends: [{ on: "two", resources: ["a@3"] }] },
      { receives: { ack: true }, on: "two" },
      { publishes: { layer: "node/n1", cds: ["-a"] }, sends: [{ on: "one", resources: ["a@3"] }] },
    ],
  },
];
