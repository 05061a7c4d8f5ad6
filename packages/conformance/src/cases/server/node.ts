import type { Case } from "../../case.ts";

/** NOD: how a client identifies itself. */
export const nodeCases: readonly Case[] = [
  {
    id: "S-NOD-04",
    level: "own",
    also: ["T-F9", "E22"],
    says: "goes by the node of the first request and overlooks another later",
    variant: "sotw",
    type: "cds",
    setup: { nodeMapping: { n1: ["group/one"], n2: ["group/two"] } },
    steps: [
      {
        publishes: [
          { layer: "group/one", cds: ["a@1"] },
          { layer: "group/two", cds: ["b@1"] },
        ],
      },
      { receives: { names: [] }, sends: [{ resources: ["a@1"] }] },
      { receives: { ack: true, node: "n2" } },
      {
        publishes: [
          { layer: "group/one", cds: ["a@2"] },
          { layer: "group/two", cds: ["b@2"] },
        ],
        sends: [{ resources: ["a@2"] }],
      },
    ],
  },
  {
    id: "S-NOD-04",
    level: "own",
    also: ["T-F9", "E22"],
    says: "goes by the node of the first request and overlooks another later",
    variant: "delta",
    type: "cds",
    setup: { nodeMapping: { n1: ["group/one"], n2: ["group/two"] } },
    steps: [
      {
        publishes: [
          { layer: "group/one", cds: ["a@1"] },
          { layer: "group/two", cds: ["b@1"] },
        ],
      },
      { receives: {}, sends: [{ resources: ["a@1"] }] },
      { receives: { ack: true, node: "n2" } },
      {
        publishes: [
          { layer: "group/one", cds: ["a@2"] },
          { layer: "group/two", cds: ["b@2"] },
        ],
        sends: [{ resources: ["a@2"] }],
      },
    ],
  },
  {
    id: "S-NOD-04/reject",
    also: ["E22"],
    says: "ends a stream whose node changes when the operator wants that",
    variant: "sotw",
    type: "cds",
    setup: { dialect: { nodeChange: "reject" } },
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: { names: [] }, sends: [{ resources: ["a@1"] }] },
      { receives: { ack: true, node: "n1" } },
      { receives: { names: [], node: "n2" }, ends: { main: "INVALID_ARGUMENT" } },
    ],
  },
  {
    id: "S-NOD-05",
    says: "needs the node once per stream, not once per type",
    variant: "sotw",
    type: "cds",
    streams: ["ads"],
    setup: { nodeMapping: { n1: ["group/one"] }, requireNode: true },
    steps: [
      { publishes: [{ layer: "group/one", cds: ["a@1"], eds: ["e@1"] }, { eds: ["e@0"] }] },
      { receives: { names: [] }, sends: [{ resources: ["a@1"] }] },
      { receives: { type: "eds", names: ["e"] }, sends: [{ type: "eds", resources: ["e@1"] }] },
    ],
  },
  {
    id: "S-NOD-05",
    says: "needs the node once per stream, not once per type",
    variant: "delta",
    type: "cds",
    streams: ["ads"],
    setup: { nodeMapping: { n1: ["group/one"] }, requireNode: true },
    steps: [
      { publishes: [{ layer: "group/one", cds: ["a@1"], eds: ["e@1"] }, { eds: ["e@0"] }] },
      { receives: {}, sends: [{ resources: ["a@1"] }] },
      { receives: { type: "eds", subscribe: ["e"] }, sends: [{ type: "eds", resources: ["e@1"] }] },
    ],
  },
  {
    id: "S-NOD-06",
    also: ["T-F9"],
    says: "serves a client that does not say who it is as an anonymous one",
    variant: "sotw",
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { opens: { main: { node: "(none)" } } },
      { receives: { names: [] }, sends: [{ resources: ["a@1"] }] },
      { receives: { ack: true } },
      { publishes: { cds: ["a@2"] }, sends: [{ resources: ["a@2"] }] },
    ],
  },
  {
    id: "S-NOD-06/required",
    also: ["T-F9"],
    says: "refuses a client that does not say who it is where content depends on it",
    variant: "sotw",
    type: "cds",
    setup: { requireNode: true },
    steps: [
      { publishes: { cds: ["a@1"] } },
      { opens: { main: { node: "(none)" } } },
      { receives: { names: [] }, ends: { main: "INVALID_ARGUMENT" } },
    ],
  },
  {
    id: "S-NOD-06/required",
    also: ["T-F9"],
    says: "refuses a client that does not say who it is where content depends on it",
    variant: "delta",
    type: "cds",
    setup: { requireNode: true },
    steps: [
      { publishes: { cds: ["a@1"] } },
      { opens: { main: { node: "(none)" } } },
      { receives: {}, ends: { main: "INVALID_ARGUMENT" } },
    ],
  },
  {
    id: "B-NOD-07",
    says: "accepts the node in every request",
    variant: "sotw",
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: { names: [], node: "n1" }, sends: [{ resources: ["a@1"], as: "A" }] },
      { receives: { ack: true, node: "n1" }, reports: [{ acked: "A" }] },
      { publishes: { cds: ["a@2"] }, sends: [{ resources: ["a@2"], as: "B" }] },
      { receives: { ack: true, node: "n1" }, reports: [{ acked: "B" }] },
    ],
  },
  {
    id: "B-NOD-07",
    says: "accepts the node in every request",
    variant: "delta",
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: { node: "n1" }, sends: [{ resources: ["a@1"], as: "A" }] },
      { receives: { ack: true, node: "n1" }, reports: [{ acked: "A" }] },
    ],
  },
];
