import type { ClientCase } from "../../client-case.ts";
import { firstRequest, firstSubscription } from "./beginning.ts";

const ofEds = { variant: "sotw", type: "eds" } as const;
const ofCds = { variant: "sotw", type: "cds" } as const;
const deltaEds = { variant: "delta", type: "eds" } as const;
const EXACT = "the time has to be exact";

/** TYP, GRP, NOD, CFG, FBK, CLI: streams, servers, and what outlives them. */
export const sourceCases: readonly ClientCase[] = [
  {
    id: "C-TYP-12",
    says: "refuses a response with a resource of another type in it",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "a@1", type: "cds" }] },
        asks: [{ names: ["a"], nonce: "A", error: ["a"] }],
        tells: { a: ["rejected 3"] },
      },
    ],
  },
  {
    id: "C-TYP-13",
    says: "does not answer a response of a type that it never asked for",
    ...ofCds,
    streams: ["ads"],
    steps: [
      firstRequest("a"),
      { responds: { type: "rds", version: "R", nonce: "A", resources: ["r@1"] } },
      { watches: "r", type: "rds", asks: [{ type: "rds", names: ["r"] }] },
    ],
  },
  {
    id: "B-GEN-06",
    also: ["C-GRP-09", "B-TYP-02"],
    says: "has a stream for each type, of which one may fail while the other goes on",
    ...ofCds,
    streams: ["per-type"],
    steps: [
      firstRequest("a"),
      {
        watches: "e",
        type: "eds",
        opens: ["main eds"],
        asks: [{ on: "main eds", type: "eds", names: ["e"], node: "n1" }],
      },
      { ends: "main eds", with: "UNAVAILABLE", tells: { e: ["unreachable 14"] } },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
    ],
  },
  {
    id: "C-NOD-02",
    also: ["C-NOD-03", "B-NOD-07"],
    says: "says who it is in every request, in the same way, if its source is set so",
    ...ofEds,
    setup: { nodeIn: "every-request" },
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A", node: "n1" }],
        tells: { a: ["a@1"] },
      },
    ],
  },
  {
    id: "C-NOD-02/first",
    also: ["C-NOD-01"],
    says: "says who it is once on a stream, though its first response was refused",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", isBad: true }] },
        asks: [{ nonce: "A", error: ["a"] }],
        tells: { a: ["a rejected 3"] },
      },
      { watches: "b", asks: [{ subscribe: ["b"] }] },
    ],
  },
  {
    id: "C-MSC-07",
    says: "says who it is now with the next request after that changed",
    ...ofEds,
    memoryOnly: "a client of this library is configured once",
    steps: [
      firstRequest("a"),
      { describes: "n2" },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A", node: "n2" }],
        tells: { a: ["a@1"] },
      },
      {
        responds: { version: "Y", nonce: "B", resources: ["a@2"] },
        asks: [{ names: ["a"], version: "Y", nonce: "B" }],
        tells: { a: ["a@2"] },
      },
    ],
  },
  {
    id: "C-CFG-07",
    says: "does not send more requests than its source allows",
    ...ofEds,
    memoryOnly: EXACT,
    setup: { rateLimit: { maxTokens: 2, tokensPerSecond: 1 } },
    steps: [
      firstRequest("a"),
      { watches: "b", asks: [{ names: ["a", "b"] }] },
      { watches: "c" },
      { watches: "d" },
      { passes: 999 },
      { passes: 1, asks: [{ names: ["a", "b", "c", "d"] }] },
    ],
  },
  {
    id: "C-CFG-08",
    also: ["C-FBK-04"],
    says: "goes on to the next server after a failure, and starts anew with the first",
    ...ofEds,
    memoryOnly: EXACT,
    setup: { servers: 2, meets: { 0: "refuses", 1: "refuses" } },
    steps: [
      { watches: "a", opens: ["main"], tells: { a: ["unreachable 14"] } },
      { passes: 250, opens: ["main at 1"] },
      { meets: { 1: "accepts" } },
      { passes: 500, opens: ["main"] },
      { passes: 1_000, opens: ["main at 1"], asks: [{ on: "main at 1", names: ["a"], node: "n1" }] },
    ],
  },
  {
    id: "C-FBK-03",
    also: ["C-FBK-04"],
    says: "turns to the second server when the first cannot be reached, and back to the first when it answers",
    ...ofEds,
    memoryOnly: EXACT,
    setup: { servers: 2, failover: "fallback", meets: { 0: "refuses" } },
    steps: [
      {
        watches: "a",
        opens: ["main", "main at 1"],
        asks: [{ on: "main at 1", names: ["a"], node: "n1" }],
      },
    ],
  },
  {
    id: "C-CLI-06",
    says: "uses what an earlier life kept when the first attempt to reach a server fails, until the server says otherwise",
    ...ofCds,
    memoryOnly: "what is kept on disk is proved with files",
    setup: { meets: { 0: "refuses" } },
    steps: [
      { restores: ["a@1", "b@1"] },
      { watches: "*", opens: ["main"], tells: { "*": ["a@1 restored", "b@1 restored", "unreachable 14"] } },
      { meets: { 0: "accepts" } },
      { passes: 500, opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["b@2"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a removed", "b@2", "synced"] },
      },
    ],
  },
  {
    id: "C-CLI-06/reached",
    says: "does not use what an earlier life kept when a server is there",
    ...ofCds,
    memoryOnly: "what is kept on disk is proved with files",
    steps: [
      { restores: ["a@1"] },
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["b@1", "synced"] },
      },
    ],
  },
];
