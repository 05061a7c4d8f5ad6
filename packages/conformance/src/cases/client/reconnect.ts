import type { ClientCase } from "../../client-case.ts";
import { firstRequest, firstSubscription } from "./beginning.ts";

const ofEds = { variant: "sotw", type: "eds" } as const;
const deltaEds = { variant: "delta", type: "eds" } as const;
const deltaCds = { variant: "delta", type: "cds" } as const;

/** REC: new streams. */
export const reconnectCases: readonly ClientCase[] = [
  {
    id: "C-REC-02",
    also: ["C-FBK-01", "C-REC-01"],
    says: "waits for a random part of a limit that doubles with each failure, up to thirty seconds",
    ...ofEds,
    memoryOnly: "a minute and more has to pass",
    setup: { meets: { 0: "refuses" } },
    steps: [
      { watches: "a", opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 249 },
      { passes: 1, opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 499 },
      { passes: 1, opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 1_000, opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 2_000, opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 4_000, opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 8_000, opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 14_999 },
      { passes: 1, opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 14_999 },
      { passes: 1, opens: ["main"], tells: { a: ["unreachable 14"] } },
    ],
  },
  {
    id: "C-REC-02/answered",
    also: ["C-FBK-01"],
    says: "starts with the shortest pause again once a response came, and does not call that end a failure",
    ...ofEds,
    memoryOnly: "the pause has to be exact",
    setup: { meets: { 0: "refuses" } },
    steps: [
      { watches: "a", opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 250, opens: ["main"], tells: { a: ["unreachable 14"] } },
      { meets: { 0: "accepts" } },
      { passes: 500, opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 249 },
      { passes: 1, opens: ["main"], asks: [{ names: ["a"], version: "X", node: "n1" }] },
    ],
  },
  {
    id: "C-REC-02/chance",
    says: "may come back at once, by chance",
    ...ofEds,
    memoryOnly: "chance is given",
    setup: { chance: 0 },
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { ends: "main", with: "OK" },
      { passes: 0, opens: ["main"], asks: [{ names: ["a"], version: "X", node: "n1" }] },
    ],
  },
  {
    id: "C-FBK-01",
    says: "tells its watches that a server cannot be reached when a stream ends before any response",
    ...ofEds,
    steps: [
      firstRequest("a"),
      { ends: "main", with: "UNAVAILABLE", tells: { a: ["unreachable 14"] } },
      { passes: 500, opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
    ],
  },
  {
    id: "C-REC-01",
    also: ["C-CLI-05", "C-FBK-01"],
    says: "keeps what it holds through an outage, and gives it to new watches",
    ...ofEds,
    memoryOnly: "ten minutes have to pass",
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { meets: { 0: "hangs" } },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 600_000, opens: ["main"] },
      { watches: "a", as: "late", tells: { late: ["a@1"] } },
    ],
  },
  {
    id: "C-REC-03",
    also: ["C-NOD-01", "B-VER-04", "E8"],
    says: "names everything of each type on a new stream, with its version, and the node in the first request",
    variant: "sotw",
    type: "cds",
    streams: ["ads"],
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "synced"] },
      },
      {
        watches: ["e", "f"],
        type: "eds",
        asks: [{ type: "eds", names: ["e", "f"] }],
      },
      {
        responds: { type: "eds", version: "M", nonce: "D", resources: ["e@1"] },
        asks: [{ type: "eds", names: ["e", "f"], version: "M", nonce: "D" }],
        tells: { e: ["e@1"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      {
        passes: 500,
        opens: ["main"],
        asks: [
          { version: "X", node: "n1" },
          { type: "eds", names: ["e", "f"], version: "M" },
        ],
      },
    ],
  },
  {
    id: "B-VER-04/2018",
    also: ["E8"],
    says: "starts each stream without a version, as the edition of 2018 does",
    ...ofEds,
    setup: { edition: "2018" },
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
    ],
  },
  {
    id: "C-REC-06",
    also: ["D12", "C-REC-07", "C-NON-03", "E20"],
    says: "tells a new stream everything that it holds by its wildcard, and no names",
    ...deltaCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { nonce: "n0", resources: ["foo@v0", "bar@v0"] },
        asks: [{ nonce: "n0" }],
        tells: { "*": ["foo@v0", "bar@v0", "synced"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ initial: ["foo=v0", "bar=v0"], node: "n1" }] },
      {
        responds: { nonce: "n0", resources: ["bar@v1"], removed: ["foo"] },
        asks: [{ nonce: "n0" }],
        tells: { "*": ["foo removed", "bar@v1"] },
      },
      { watches: "x", asks: [{ subscribe: ["x"] }] },
    ],
  },
  {
    id: "C-REC-06/star",
    says: "asks for everything and a name with a star on a new stream, because a list without it would be the names alone",
    ...deltaCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { "*": ["a@1", "synced"] } },
      { watches: "x", asks: [{ subscribe: ["x"] }] },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["*", "x"], initial: ["a=1"], node: "n1" }] },
    ],
  },
  {
    id: "C-REC-07",
    says: "tells what it holds in the first request of a new stream only",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { a: ["a@1"] } },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["a"], initial: ["a=1"], node: "n1" }] },
      { watches: "b", asks: [{ subscribe: ["b"] }] },
      { responds: { nonce: "A", resources: ["b@1"] }, asks: [{ nonce: "A" }], tells: { b: ["b@1"] } },
    ],
  },
  {
    id: "C-REC-08",
    says: "asks on a new stream for what was removed, never came or was refused, and does not call it held",
    ...deltaEds,
    steps: [
      firstSubscription("a", "b", "c", "d"),
      {
        responds: { nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"], b: ["b@1"] },
      },
      { responds: { nonce: "B", removed: ["b"] }, asks: [{ nonce: "B" }], tells: { b: ["b removed"] } },
      {
        responds: { nonce: "C", resources: [{ is: "d@1", isBad: true }] },
        asks: [{ nonce: "C", error: ["d"] }],
        tells: { d: ["d rejected 3"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["a", "b", "c", "d"], initial: ["a=1"], node: "n1" }] },
    ],
  },
  {
    id: "C-REC-13",
    says: "takes what the first response of a new stream leaves out for gone",
    variant: "sotw",
    type: "cds",
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ version: "X", node: "n1" }] },
      {
        responds: { version: "Y", nonce: "A", resources: ["b@1"] },
        asks: [{ version: "Y", nonce: "A" }],
        tells: { "*": ["a removed"] },
      },
    ],
  },
];
