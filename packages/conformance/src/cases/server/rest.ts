import type { Case, Expectation, Step } from "../../case.ts";

/** All cases here have a client that polls. */
const polled = { variant: "sotw", streams: ["rest"] } as const;
/** Longer than a poll is held, in milliseconds. */
const HELD_MS = 850;

/** A held poll, which is answered when its time has passed and not before. */
const heldTo = (answer: Expectation): readonly Step[] => [
  // The poll may have begun late.
  { passes: HELD_MS / 4 },
  { passes: (3 * HELD_MS) / 4, ...answer },
];

/** RST: polls, each answered separately. */
export const restCases: readonly Case[] = [
  {
    id: "S-RST-03",
    also: ["S-RST-10", "B-ACK-16", "T-I3"],
    says: "holds the poll of a client that has what there is, and tells it that nothing changed",
    ...polled,
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: {}, sends: [{ resources: ["a@1"], as: "A" }], reports: [] },
      { receives: { ack: true }, reports: [{ acked: "A" }] },
      ...heldTo({ unchanged: ["main"] }),
      { receives: {}, reports: [] },
    ],
  },
  {
    id: "S-RST-10",
    says: "answers a held poll when something changes",
    ...polled,
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: {}, sends: [{ resources: ["a@1"], as: "A" }] },
      { receives: { ack: true } },
      { publishes: { cds: ["b@1"] }, sends: [{ resources: ["a@1", "b@1"], version: "not A", as: "B" }] },
      { receives: { ack: true }, reports: [{ acked: "B" }] },
      { publishes: { cds: ["-b"] }, sends: [{ resources: ["a@1"], version: "same as A" }] },
    ],
  },
  {
    id: "S-RST-10/other",
    says: "does not answer a held poll when something else changes, or comes back to what it was",
    ...polled,
    type: "eds",
    steps: [
      { publishes: { eds: ["a@1"] } },
      { receives: { names: ["a"] }, sends: [{ resources: ["a@1"] }] },
      { receives: { ack: true } },
      { publishes: { eds: ["b@1"], cds: ["a@1"] } },
      { publishes: [{ eds: ["a@2"] }, { eds: ["a@1"] }] },
      ...heldTo({ unchanged: ["main"] }),
    ],
  },
  {
    id: "S-RST-10/off",
    says: "answers every poll at once where that is switched",
    ...polled,
    type: "cds",
    setup: { dialect: { restLongPoll: false } },
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: {}, sends: [{ resources: ["a@1"], as: "A" }] },
      { receives: { ack: true }, unchanged: ["main"] },
      { receives: {}, unchanged: ["main"] },
      { receives: { version: "" }, sends: [{ resources: ["a@1"], version: "same as A" }] },
    ],
  },
  {
    id: "S-RST-12",
    also: ["B-ACK-16", "B-RST-07", "B-NON-11", "T-I4"],
    says: "gives a refused answer once in the time that a poll is held, and something newer at once",
    ...polled,
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: {}, sends: [{ resources: ["a@1"], as: "A" }] },
      { receives: { ack: true } },
      { publishes: { cds: ["a@2"] }, sends: [{ resources: ["a@2"], as: "B" }] },
      { receives: { nack: "no", version: "of A" }, reports: [{ nacked: "B", error: "no", names: ["a"] }] },
      ...heldTo({ sends: [{ resources: ["a@2"], version: "same as B" }], reports: [] }),
      { receives: { version: "of A" } },
      { publishes: { cds: ["a@3"] }, sends: [{ resources: ["a@3"], as: "C" }] },
      { receives: { ack: true }, reports: [{ acked: "C" }] },
    ],
  },
  {
    id: "S-RST-12/silent",
    also: ["T-I4", "T-A5"],
    says: "takes a poll with the version before for a refusal that nobody explains, and books it once",
    ...polled,
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: {}, sends: [{ resources: ["a@1"], as: "A" }] },
      { receives: { ack: true } },
      { publishes: { cds: ["a@2"] }, sends: [{ resources: ["a@2"], as: "B" }] },
      { receives: { version: "of A" }, reports: [{ nacked: "B" }] },
      ...heldTo({ sends: [{ resources: ["a@2"], version: "same as B" }] }),
      { receives: { version: "of A" }, reports: [] },
      // The client may use parts of the response that it NACKed, so the server resends it.
      { publishes: { cds: ["a@1"] }, sends: [{ resources: ["a@1"], version: "same as A", as: "C" }] },
      { receives: { ack: true }, reports: [{ acked: "C" }] },
      ...heldTo({ unchanged: ["main"] }),
    ],
  },
  {
    id: "S-RST-12/fresh",
    also: ["T-I6"],
    says: "answers a poll without a version at once, also if that was given a moment ago",
    ...polled,
    type: "eds",
    steps: [
      { publishes: { eds: ["a@1"] } },
      { receives: { names: ["a"] }, sends: [{ resources: ["a@1"] }] },
      { receives: { ack: true } },
      { receives: { version: "" }, sends: [{ resources: ["a@1"] }] },
    ],
  },
  {
    id: "S-RST-12/later",
    says: "gives what was given before at once when the time that a poll is held has passed",
    ...polled,
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: {}, sends: [{ resources: ["a@1"], as: "A" }] },
      { receives: { ack: true } },
      { publishes: { cds: ["a@2"] }, sends: [{ resources: ["a@2"] }] },
      { passes: HELD_MS },
      { receives: { version: "of A" }, sends: [{ resources: ["a@2"] }] },
    ],
  },
  {
    id: "S-RST-13",
    also: ["T-I3", "T-A1"],
    says: "gives a name that is asked for anew though nothing of the type changed",
    ...polled,
    type: "eds",
    steps: [
      { publishes: { eds: ["a@1", "b@1"] } },
      { receives: { names: ["a"] }, sends: [{ resources: ["a@1"], as: "A" }] },
      {
        receives: { names: ["a", "b"], version: "of A" },
        sends: [{ resources: ["a@1", "b@1"], version: "not A" }],
      },
    ],
  },
  {
    id: "S-RST-13/printed",
    says: "tells names apart also under a version that the operator prints",
    ...polled,
    type: "eds",
    steps: [
      { publishes: { eds: ["a@1", "b@1"], versions: { eds: "v1" } } },
      { receives: { names: ["a"] }, sends: [{ resources: ["a@1"], as: "A" }] },
      {
        receives: { names: ["a", "b"], version: "of A" },
        sends: [{ resources: ["a@1", "b@1"], version: "not A" }],
      },
      { receives: { names: [], version: "" }, sends: [{ resources: ["a@1", "b@1"], version: "is v1" }] },
    ],
  },
  {
    id: "S-RST-14",
    says: "takes a poll that names nothing, or the star, for one that asks for everything",
    ...polled,
    type: "eds",
    steps: [
      { publishes: { eds: ["a@1", "b@1"] } },
      { receives: { names: ["a"] }, sends: [{ resources: ["a@1"], as: "A" }] },
      { receives: { names: [], version: "of A" }, sends: [{ resources: ["a@1", "b@1"], as: "B" }] },
      { receives: { names: ["*"], version: "of A" } },
      ...heldTo({ sends: [{ resources: ["a@1", "b@1"], version: "same as B" }] }),
    ],
  },
  {
    id: "S-RST-11",
    says: "forgets the poll of a client that gave it up",
    memoryOnly:
      "nobody hears over the wire what is said to a client that is gone; the test of the same id counts polls",
    ...polled,
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: {}, sends: [{ resources: ["a@1"] }] },
      { receives: { ack: true } },
      { cancels: "main" },
      { publishes: { cds: ["a@2"] } },
      { passes: HELD_MS },
    ],
  },
  {
    id: "S-ERR-01/rest",
    also: ["S-ERR-02", "S-ERR-03"],
    says: "tells a poll why a resource is not there, as long as that is so",
    ...polled,
    type: "eds",
    steps: [
      { publishes: { eds: ["a@1", { is: "b@why", error: 7 }] } },
      { receives: { names: ["a", "b"] }, sends: [{ resources: ["a@1"], errors: ["b 7 why"] }] },
      { receives: { ack: true } },
      { publishes: { eds: [{ is: "b@other", error: 7 }] }, sends: [{ resources: ["a@1"], errors: ["b 7 other"] }] },
      { receives: { ack: true } },
      { publishes: { eds: ["b@1"] }, sends: [{ resources: ["a@1", "b@1"] }] },
    ],
  },
  {
    id: "S-DEL-08/rest",
    says: "answers a held poll when its node sees other layers",
    ...polled,
    type: "cds",
    setup: { nodeMapping: { n1: ["base"] } },
    steps: [
      { publishes: [{ cds: ["a@1"] }, { layer: "other", cds: ["b@1"] }] },
      { receives: {}, sends: [{ resources: ["a@1"] }] },
      { receives: { ack: true } },
      { moves: { n1: ["other", "base"] }, sends: [{ resources: ["a@1", "b@1"] }] },
    ],
  },
  {
    id: "S-NOD-06/rest",
    says: "refuses a poll without a node where that is needed",
    ...polled,
    type: "cds",
    setup: { requireNode: true },
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: { node: "(none)" }, ends: { main: "INVALID_ARGUMENT" } },
      { receives: {}, sends: [{ resources: ["a@1"] }] },
    ],
  },
  {
    id: "S-TTL-01/rest",
    says: "leaves a ttl off that nothing would keep alive",
    ...polled,
    type: "cds",
    steps: [
      { publishes: { cds: [{ is: "a@1", ttl: 3_000 }] } },
      {
        receives: { node: { id: "n1", features: ["xds.config.supports-resource-ttl", "xds.config.resource-in-sotw"] } },
        sends: [{ resources: ["a@1"] }],
      },
    ],
  },
  {
    id: "S-GEN-05/rest",
    says: "keeps clients apart that poll for the same",
    ...polled,
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { opens: { second: { kind: "rest", node: "n2", connection: "c2" } } },
      { receives: {}, sends: [{ resources: ["a@1"] }] },
      { on: "second", receives: {}, sends: [{ on: "second", resources: ["a@1"], as: "A" }] },
      { receives: { ack: true } },
      { on: "second", receives: { ack: true } },
      { publishes: { cds: ["a@2"] }, sends: [{ resources: ["a@2"] }, { on: "second", resources: ["a@2"] }] },
      { on: "second", receives: { version: "of A" } },
      { receives: { ack: true } },
    ],
  },
  {
    id: "S-VER-08/rest",
    also: ["S-RST-10"],
    says: "knows the version that a server before it gave",
    ...polled,
    type: "cds",
    steps: [
      { publishes: { cds: ["a@1"] } },
      { receives: {}, sends: [{ resources: ["a@1"], as: "A" }] },
      { receives: { ack: true } },
      { restarts: "" },
      { receives: { version: "of A" } },
      { publishes: { cds: ["a@2"] }, sends: [{ resources: ["a@2"] }] },
    ],
  },
];
