import type { ClientCase } from "../../client-case.ts";
import { firstRequest, firstSubscription } from "./beginning.ts";

const ofEds = { variant: "sotw", type: "eds" } as const;
const deltaEds = { variant: "delta", type: "eds" } as const;
const EXACT = "the time has to be exact";

/** TTL: expiry and heartbeats. */
export const ttlCases: readonly ClientCase[] = [
  {
    id: "C-TTL-05",
    also: ["C-TTL-07", "C-REC-08", "E23"],
    says: "uses a resource until its ttl is over, then sends nothing, and does not call it held on a new stream",
    ...deltaEds,
    memoryOnly: EXACT,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", ttl: 3_000 }] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { passes: 2_999 },
      { passes: 1, tells: { a: ["a expired"] } },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["a"], node: "n1" }] },
    ],
  },
  {
    id: "C-TTL-05/wire",
    also: ["C-TTL-07"],
    says: "takes a resource for gone when its ttl is over",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", resources: [{ is: "a@1", ttl: 900 }] }, asks: [{ nonce: "A" }], tells: { a: ["a@1"] } },
      { passes: 1_000, tells: { a: ["a expired"] } },
    ],
  },
  {
    id: "C-TTL-05/sotw",
    also: ["C-TTL-04"],
    says: "uses a resource in a wrapper until its ttl is over",
    ...ofEds,
    memoryOnly: EXACT,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "a@1", version: "X", ttl: 3_000 }] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { passes: 2_999 },
      { passes: 1, tells: { a: ["a expired"] } },
    ],
  },
  {
    id: "C-TTL-05/again",
    says: "counts a ttl from the last arrival, and forgets it when the resource comes without one",
    ...deltaEds,
    memoryOnly: EXACT,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", ttl: 3_000 }] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { passes: 2_000 },
      { responds: { nonce: "B", resources: [{ is: "a@1", ttl: 3_000 }] }, asks: [{ nonce: "B" }] },
      { passes: 2_999 },
      { responds: { nonce: "C", resources: ["a@1"] }, asks: [{ nonce: "C" }] },
      { passes: 3_600_000 },
    ],
  },
  {
    id: "C-TTL-04",
    says: "takes a wrapper off, though it says nothing",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "a@1", isWrapped: true }] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
    ],
  },
  {
    id: "C-TTL-06",
    also: ["C-REC-14", "C-CLI-05"],
    says: "lets a resource expire while there is no stream, and puts nothing older in its place",
    ...deltaEds,
    memoryOnly: EXACT,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { a: ["a@1"] } },
      {
        responds: { nonce: "B", resources: [{ is: "a@2", ttl: 3_000 }] },
        asks: [{ nonce: "B" }],
        tells: { a: ["a@2"] },
      },
      { meets: { 0: "hangs" } },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 2_999, opens: ["main"] },
      { passes: 1, tells: { a: ["a expired"] } },
      { meets: { 0: "accepts" }, asks: [{ subscribe: ["a"], node: "n1" }] },
    ],
  },
  {
    id: "C-TTL-10",
    says: "keeps a resource alive by heartbeats, acknowledges them, and tells nobody",
    ...deltaEds,
    memoryOnly: EXACT,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", ttl: 3_000 }] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { passes: 2_000 },
      { responds: { nonce: "B", resources: [{ is: "a", version: "1", ttl: 3_000 }] }, asks: [{ nonce: "B" }] },
      { passes: 2_999 },
      { passes: 1, tells: { a: ["a expired"] } },
    ],
  },
  {
    id: "C-TTL-10/alias",
    also: ["C-DLT-15"],
    says: "keeps a resource that it knows by an alias alive by a heartbeat that names none",
    ...deltaEds,
    memoryOnly: EXACT,
    steps: [
      firstSubscription("alias"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", aliases: ["alias"], ttl: 3_000 }] },
        asks: [{ nonce: "A" }],
        tells: { alias: ["a@1"] },
      },
      { passes: 2_000 },
      { responds: { nonce: "B", resources: [{ is: "a", version: "1", ttl: 3_000 }] }, asks: [{ nonce: "B" }] },
      { passes: 2_999 },
      { passes: 1, tells: { alias: ["a expired"] } },
    ],
  },
  {
    id: "C-TTL-11",
    says: "keeps a resource alive by a wrapper without one, in the version that it came with",
    ...ofEds,
    memoryOnly: EXACT,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "a@1", version: "X", ttl: 3_000 }] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { passes: 2_000 },
      {
        responds: { version: "X", nonce: "B", resources: [{ is: "a", version: "X", ttl: 3_000 }] },
        asks: [{ names: ["a"], version: "X", nonce: "B" }],
      },
      { passes: 2_999 },
      {
        responds: { version: "Y", nonce: "C", resources: [{ is: "a", version: "Y", ttl: 3_000 }] },
        asks: [{ names: ["a"], version: "X", nonce: "C", error: ["a"] }],
        tells: { a: ["a rejected 3, a@1"] },
      },
      { passes: 1, tells: { a: ["a expired"] } },
    ],
  },
  {
    id: "C-TTL-13",
    says: "takes a cluster for there that only a heartbeat names",
    variant: "sotw",
    type: "cds",
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "a@1", version: "X", ttl: 60_000 }, "b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      {
        responds: { version: "X", nonce: "B", resources: [{ is: "a", version: "X", ttl: 60_000 }, "b@1"] },
        asks: [{ version: "X", nonce: "B" }],
      },
      {
        responds: { version: "Y", nonce: "C", resources: [{ is: "a", version: "X", ttl: 60_000 }] },
        asks: [{ version: "Y", nonce: "C" }],
        tells: { "*": ["b removed"] },
      },
    ],
  },
  {
    id: "C-TTL-15",
    also: ["E5"],
    says: "refuses a heartbeat of another version than it holds",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", ttl: 60_000 }] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      {
        responds: { nonce: "B", resources: [{ is: "a", version: "2", ttl: 60_000 }] },
        asks: [{ nonce: "B", error: ["a"] }],
        tells: { a: ["a rejected 3, a@1"] },
      },
    ],
  },
  {
    id: "C-TTL-15/missing",
    also: ["E5"],
    says: "takes a heartbeat of what it does not hold for the word that there is none, if it is told to",
    ...deltaEds,
    setup: { dialect: { badHeartbeat: "missing" } },
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: [{ is: "a", version: "2", ttl: 60_000 }] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a does-not-exist"] },
      },
    ],
  },
  {
    id: "B-TTL-17",
    says: "takes a virtual host without a body for one that does not exist, whatever its version",
    variant: "delta",
    type: "vhds",
    steps: [
      firstSubscription("r/host"),
      { responds: { nonce: "A", resources: ["r/host@1"] }, asks: [{ nonce: "A" }], tells: { "r/host": ["r/host@1"] } },
      {
        responds: { nonce: "B", resources: [{ is: "r/host", version: "1" }] },
        asks: [{ nonce: "B" }],
        tells: { "r/host": ["r/host removed"] },
      },
    ],
  },
  {
    id: "B-TTL-19",
    says: "refuses a ttl of nothing",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", ttl: 0 }] },
        asks: [{ nonce: "A", error: ["a"] }],
        tells: { a: ["a rejected 3"] },
      },
    ],
  },
  {
    id: "E23",
    says: "keeps a resource for ever, as editions without ttls do",
    ...deltaEds,
    memoryOnly: "an hour has to pass",
    setup: { edition: "2020" },
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", ttl: 3_000 }] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { passes: 3_600_000 },
    ],
  },
];
