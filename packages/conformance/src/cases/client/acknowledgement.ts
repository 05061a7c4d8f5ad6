import type { ClientCase } from "../../client-case.ts";
import { firstRequest } from "./beginning.ts";

const ofEds = { variant: "sotw", type: "eds" } as const;
const ofDelta = { variant: "delta", type: "eds" } as const;

/** ACK, NON: ACKs and NACKs, and nonces. */
export const acknowledgementCases: readonly ClientCase[] = [
  {
    id: "C-ACK-02",
    also: ["D1", "C-ACK-01", "C-VER-05", "C-NON-09", "B-TYP-01"],
    says: "answers a response with its version, its nonce and its names, and then is quiet",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: { version: "X", nonce: "A", resources: ["foo@1"] },
        asks: [{ names: ["foo"], version: "X", nonce: "A" }],
        tells: { foo: ["foo@1"] },
      },
      { passes: 60_000 },
    ],
    memoryOnly: "a minute has to pass in silence",
  },
  {
    id: "C-ACK-03",
    also: ["D2", "C-VAL-05", "C-CLI-04"],
    says: "refuses a response under its nonce, with the version before, which is none, and says why",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "foo@1", isBad: true }] },
        asks: [{ names: ["foo"], nonce: "A", error: ["foo"] }],
        tells: { foo: ["foo rejected 3"] },
      },
    ],
  },
  {
    id: "C-ACK-03/after-an-ack",
    also: ["C-CLI-04", "C-VER-05", "C-ACK-07"],
    says: "refuses a response under its nonce, with the version that is in force",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: { version: "X", nonce: "A", resources: ["foo@1"] },
        asks: [{ names: ["foo"], version: "X", nonce: "A" }],
        tells: { foo: ["foo@1"] },
      },
      {
        responds: { version: "Y", nonce: "B", resources: [{ is: "foo@2", isBad: true }] },
        asks: [{ names: ["foo"], version: "X", nonce: "B", error: ["foo"] }],
        tells: { foo: ["foo rejected 3, foo@1"] },
      },
    ],
  },
  {
    id: "C-ACK-04",
    also: ["D3"],
    says: "takes what comes after a refusal, and speaks of the error no more",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "foo@1", isBad: true }] },
        asks: [{ names: ["foo"], nonce: "A", error: ["foo"] }],
        tells: { foo: ["foo rejected 3"] },
      },
      { watches: "bar", asks: [{ names: ["bar", "foo"], nonce: "A" }] },
      {
        responds: { version: "Y", nonce: "B", resources: ["foo@2"] },
        asks: [{ names: ["bar", "foo"], version: "Y", nonce: "B" }],
        tells: { foo: ["foo@2"] },
      },
    ],
  },
  {
    id: "C-ACK-07",
    also: ["D4"],
    says: "refuses what a name that it added brought, under the version that stays in force",
    ...ofEds,
    steps: [
      firstRequest("A"),
      {
        responds: { version: "1", nonce: "1", resources: ["A@1"] },
        asks: [{ names: ["A"], version: "1", nonce: "1" }],
        tells: { A: ["A@1"] },
      },
      { watches: "B", asks: [{ names: ["A", "B"], version: "1", nonce: "1" }] },
      {
        responds: { version: "1", nonce: "2", resources: [{ is: "B@1", isBad: true }] },
        asks: [{ names: ["A", "B"], version: "1", nonce: "2", error: ["B"] }],
        tells: { B: ["B rejected 3"] },
      },
    ],
  },
  {
    id: "C-ACK-02/two-names",
    also: ["D5", "C-SUB-01", "B-GEN-03", "C-GRP-11"],
    says: "answers an update of two names on one stream; a version that sorts lower is a newer one all the same",
    ...ofEds,
    steps: [
      firstRequest("foo", "bar"),
      {
        responds: { version: "b", nonce: "9", resources: ["foo@1", "bar@1"] },
        asks: [{ names: ["bar", "foo"], version: "b", nonce: "9" }],
        tells: { foo: ["foo@1"], bar: ["bar@1"] },
      },
      {
        responds: { version: "a", nonce: "10", resources: ["foo@2", "bar@2"] },
        asks: [{ names: ["bar", "foo"], version: "a", nonce: "10" }],
        tells: { foo: ["foo@2"], bar: ["bar@2"] },
      },
    ],
  },
  {
    id: "B-VER-03",
    also: ["D6", "B-VER-09", "C-CFG-02"],
    says: "keeps versions and nonces of two servers apart",
    ...ofEds,
    memoryOnly: "a client that is given addresses has one source",
    setup: { others: { other: {} } },
    steps: [
      firstRequest("foo"),
      {
        watches: "bar",
        of: "other",
        opens: ["other"],
        asks: [{ on: "other", names: ["bar"], node: "n1" }],
      },
      {
        responds: { version: "X", nonce: "A", resources: ["foo@1"] },
        asks: [{ names: ["foo"], version: "X", nonce: "A" }],
        tells: { foo: ["foo@1"] },
      },
      {
        responds: { version: "M", nonce: "D", resources: ["bar@1"] },
        on: "other",
        asks: [{ on: "other", names: ["bar"], version: "M", nonce: "D" }],
        tells: { bar: ["bar@1"] },
      },
      {
        responds: { version: "Y", nonce: "B", resources: ["foo@2"] },
        asks: [{ names: ["foo"], version: "Y", nonce: "B" }],
        tells: { foo: ["foo@2"] },
      },
      {
        responds: { version: "N", nonce: "E", resources: ["bar@2"] },
        on: "other",
        asks: [{ on: "other", names: ["bar"], version: "N", nonce: "E" }],
        tells: { bar: ["bar@2"] },
      },
    ],
  },
  {
    id: "C-NON-02",
    also: ["D7"],
    says: "repeats the version and the nonce that it has when it only adds a name",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: { version: "X", nonce: "A", resources: ["foo@1"] },
        asks: [{ names: ["foo"], version: "X", nonce: "A" }],
        tells: { foo: ["foo@1"] },
      },
      { watches: "bar", asks: [{ names: ["bar", "foo"], version: "X", nonce: "A" }] },
    ],
  },
  {
    id: "C-NON-02/update-race",
    also: ["D8", "C-ACK-01"],
    says: "acknowledges an update that crossed its widened request, with the wider names",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: { version: "X", nonce: "A", resources: ["foo@1"] },
        asks: [{ names: ["foo"], version: "X", nonce: "A" }],
        tells: { foo: ["foo@1"] },
      },
      { watches: "bar", asks: [{ names: ["bar", "foo"], version: "X", nonce: "A" }] },
      {
        responds: { version: "Y", nonce: "B", resources: ["foo@2"] },
        asks: [{ names: ["bar", "foo"], version: "Y", nonce: "B" }],
        tells: { foo: ["foo@2"] },
      },
      {
        responds: { version: "Y", nonce: "C", resources: ["bar@1"] },
        asks: [{ names: ["bar", "foo"], version: "Y", nonce: "C" }],
        tells: { bar: ["bar@1"] },
      },
    ],
  },
  {
    id: "C-NON-02/stale",
    also: ["D9"],
    says: "goes on under the newest nonce, whatever became of requests before",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: { version: "X", nonce: "A", resources: ["foo@1"] },
        asks: [{ names: ["foo"], version: "X", nonce: "A" }],
        tells: { foo: ["foo@1"] },
      },
      { watches: "bar", asks: [{ names: ["bar", "foo"], version: "X", nonce: "A" }] },
      { stops: "bar", asks: [{ names: ["foo"], version: "X", nonce: "A" }] },
      { watches: "baz", asks: [{ names: ["baz", "foo"], version: "X", nonce: "A" }] },
      {
        responds: { version: "Y", nonce: "B", resources: ["foo@2", "bar@1"] },
        asks: [{ names: ["baz", "foo"], version: "Y", nonce: "B" }],
        tells: { foo: ["foo@2"] },
      },
      {
        responds: { version: "Z", nonce: "C", resources: ["foo@3", "baz@1"] },
        asks: [{ names: ["baz", "foo"], version: "Z", nonce: "C" }],
        tells: { foo: ["foo@3"], baz: ["baz@1"] },
      },
    ],
  },
  {
    id: "B-ADS-01",
    also: ["D10", "B-VER-02", "C-ADS-02"],
    says: "speaks of clusters and endpoints on one stream, each with names, version and nonce of its own",
    variant: "sotw",
    type: "cds",
    streams: ["ads"],
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "Y", nonce: "B", resources: ["foo@1"] },
        asks: [{ version: "Y", nonce: "B" }],
        tells: { "*": ["foo@1", "synced"] },
      },
      { watches: "foo", type: "eds", as: "endpoints", asks: [{ type: "eds", names: ["foo"] }] },
      {
        responds: { type: "eds", version: "M", nonce: "D", resources: ["foo@7"] },
        asks: [{ type: "eds", names: ["foo"], version: "M", nonce: "D" }],
        tells: { endpoints: ["foo@7"] },
      },
      {
        responds: { version: "Z", nonce: "E", resources: ["foo@2"] },
        asks: [{ version: "Z", nonce: "E" }],
        tells: { "*": ["foo@2"] },
      },
    ],
  },
  {
    id: "B-ADS-01/refusal",
    also: ["B-VER-02"],
    says: "refuses clusters, and takes endpoints meanwhile",
    variant: "sotw",
    type: "cds",
    streams: ["ads"],
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { watches: "e", type: "eds", asks: [{ type: "eds", names: ["e"] }] },
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "a@1", isBad: true }] },
        asks: [{ nonce: "A", error: ["a"] }],
        tells: { "*": ["a rejected 3"] },
      },
      {
        responds: { type: "eds", version: "M", nonce: "B", resources: ["e@1"] },
        asks: [{ type: "eds", names: ["e"], version: "M", nonce: "B" }],
        tells: { e: ["e@1"] },
      },
      {
        responds: { version: "Y", nonce: "C", resources: ["c@1"] },
        asks: [{ version: "Y", nonce: "C" }],
        tells: { "*": ["c@1", "synced"] },
      },
      { watches: "b", asks: [{ names: ["*", "b"], version: "Y", nonce: "C" }] },
    ],
  },
  {
    id: "C-ACK-01/many",
    says: "answers each of several responses, in their order",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: [
          { version: "1", nonce: "A", resources: ["foo@1"] },
          { version: "2", nonce: "B", resources: [{ is: "foo@2", isBad: true }] },
          { version: "3", nonce: "C", resources: ["foo@3"] },
        ],
        asks: [
          { names: ["foo"], version: "1", nonce: "A" },
          { names: ["foo"], version: "1", nonce: "B", error: ["foo"] },
          { names: ["foo"], version: "3", nonce: "C" },
        ],
        tells: { foo: ["foo@1", "foo rejected 3, foo@1", "foo@3"] },
      },
    ],
  },
  {
    id: "C-ACK-14",
    also: ["C-CLI-03"],
    says: "acknowledges a response that says the same again under its own nonce, and tells nobody",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: { version: "X", nonce: "A", resources: ["foo@1"] },
        asks: [{ names: ["foo"], version: "X", nonce: "A" }],
        tells: { foo: ["foo@1"] },
      },
      {
        responds: { version: "X", nonce: "B", resources: ["foo@1"] },
        asks: [{ names: ["foo"], version: "X", nonce: "B" }],
      },
    ],
  },
  {
    id: "C-ACK-09",
    says: "asks nothing of a type whose response is being judged, and brings new names with the answer",
    ...ofEds,
    memoryOnly: "judging takes no time that a case could use",
    steps: [
      firstRequest("foo"),
      { arrives: { version: "X", nonce: "A", resources: ["foo@1"] } },
      { watches: "bar" },
      {
        judged: "main",
        asks: [{ names: ["bar", "foo"], version: "X", nonce: "A" }],
        tells: { foo: ["foo@1"] },
      },
    ],
  },
  {
    id: "C-ACK-09/delta",
    also: ["C-DLT-03", "C-DLT-20"],
    says: "brings what changed while a response was judged with its answer, and asks anew for what it had given up",
    ...ofDelta,
    memoryOnly: "judging takes no time that a case could use",
    steps: [
      { watches: ["foo", "old"], opens: ["main"], asks: [{ subscribe: ["foo", "old"], node: "n1" }] },
      { arrives: { nonce: "A", resources: ["foo@1"] } },
      { watches: "bar" },
      { stops: "old" },
      { stops: "foo" },
      { watches: "foo", as: "again" },
      {
        judged: "main",
        asks: [{ subscribe: ["bar", "foo"], unsubscribe: ["old"], nonce: "A" }],
        tells: { again: ["foo@1"] },
      },
    ],
  },
  {
    id: "B-ACK-08",
    also: ["C-VAL-05"],
    says: "uses nothing of a response in which two of three are bad, and names both",
    ...ofEds,
    steps: [
      firstRequest("a", "b", "c"),
      {
        responds: {
          version: "X",
          nonce: "A",
          resources: ["a@1", { is: "b@1", isBad: true }, { is: "c@1", isBad: true }],
        },
        asks: [{ names: ["a", "b", "c"], nonce: "A", error: ["b", "c"] }],
        tells: { a: ["a rejected 3"], b: ["b rejected 3"], c: ["c rejected 3"] },
      },
    ],
  },
  {
    id: "B-ACK-08/apply-valid",
    says: "uses what is good in a response that it refuses, if it is told to",
    ...ofEds,
    setup: { dialect: { nackPolicy: "apply-valid" } },
    steps: [
      firstRequest("a", "b"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", { is: "b@1", isBad: true }] },
        asks: [{ names: ["a", "b"], nonce: "A", error: ["b"] }],
        tells: { a: ["a@1"], b: ["b rejected 3"] },
      },
    ],
  },
  {
    id: "C-ACK-15",
    says: "acknowledges clusters when they are accepted, though nobody sends their endpoints",
    variant: "sotw",
    type: "cds",
    streams: ["ads"],
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "Y", nonce: "B", resources: ["foo@1"] },
        asks: [{ version: "Y", nonce: "B" }],
        tells: { "*": ["foo@1", "synced"] },
      },
      { watches: "foo", type: "eds", as: "endpoints", asks: [{ type: "eds", names: ["foo"] }] },
      {
        responds: { version: "Z", nonce: "C", resources: ["foo@2"] },
        asks: [{ version: "Z", nonce: "C" }],
        tells: { "*": ["foo@2"] },
      },
    ],
  },
  {
    id: "C-ACK-15/when-warm",
    also: ["E34"],
    says: "withholds the ACK of clusters until nothing warms, if it is told to",
    variant: "sotw",
    type: "cds",
    streams: ["ads"],
    memoryOnly: "a connection does not show what warms",
    setup: { dialect: { cdsAckWhenWarm: true } },
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { version: "Y", nonce: "B", resources: ["foo@1"] }, tells: { "*": ["foo@1", "synced"] } },
      { watches: "foo", type: "eds", as: "endpoints", asks: [{ type: "eds", names: ["foo"] }] },
      {
        responds: { type: "eds", version: "M", nonce: "D", resources: ["foo@7"] },
        asks: [{ type: "eds", names: ["foo"], version: "M", nonce: "D" }],
        tells: { endpoints: ["foo@7"] },
      },
      { warmed: "main", asks: [{ version: "Y", nonce: "B" }] },
    ],
  },
  {
    id: "C-NON-03",
    also: ["C-REC-03", "B-VER-04", "C-NOD-01", "C-REC-01"],
    says: "starts a new stream without a nonce, with the version that it accepted last",
    ...ofEds,
    steps: [
      firstRequest("foo"),
      {
        responds: { version: "X", nonce: "A", resources: ["foo@1"] },
        asks: [{ names: ["foo"], version: "X", nonce: "A" }],
        tells: { foo: ["foo@1"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ names: ["foo"], version: "X", node: "n1" }] },
    ],
  },
];
