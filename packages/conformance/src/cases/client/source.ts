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
        asks: [{ names: ["a"], nonce: "A", error: [] }],
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
      {
        responds: [
          { type: "rds", version: "R", nonce: "A", resources: ["r@1"] },
          { version: "X", nonce: "B", resources: ["a@1"] },
        ],
        asks: [{ names: ["a"], version: "X", nonce: "B" }],
        tells: { a: ["a@1"] },
      },
      { watches: "r", type: "rds", asks: [{ type: "rds", names: ["r"] }] },
    ],
  },
  {
    id: "C-TYP-13/later",
    says: "asks for a type of which it was sent something on the stream before it asked, once that was judged",
    ...ofCds,
    streams: ["ads"],
    memoryOnly: "judging takes no time that a case could use",
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { watches: "e", type: "eds", asks: [{ type: "eds", names: ["e"] }] },
      { stops: "e", asks: [{ type: "eds" }] },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ names: ["a"], version: "X", node: "n1" }] },
      { arrives: { type: "eds", version: "E", nonce: "A", resources: ["e@1"] } },
      { watches: "e", type: "eds", as: "later" },
      { judged: "main", asks: [{ type: "eds", names: ["e"] }] },
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
      { passes: 500, opens: ["main eds"], asks: [{ on: "main eds", type: "eds", names: ["e"], node: "n1" }] },
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
    memoryOnly: "a client that is given addresses says it once",
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
    says: "goes on to the next server after a failure, and starts anew with the first",
    ...ofEds,
    memoryOnly: EXACT,
    setup: { servers: 2, meets: { 0: "refuses", 1: "refuses" } },
    steps: [
      { watches: "a", opens: ["main"] },
      { passes: 250, opens: ["main at 1"], tells: { a: ["unreachable 14"] } },
      { meets: { 1: "accepts" } },
      { passes: 500, opens: ["main"] },
      { passes: 1_000, opens: ["main at 1"], asks: [{ on: "main at 1", names: ["a"], node: "n1" }] },
    ],
  },
  {
    id: "C-FBK-03",
    also: ["C-FBK-04"],
    says: "turns to the second server when the first cannot be reached, and back to the first when that answers",
    ...ofEds,
    memoryOnly: EXACT,
    setup: { servers: 2, failover: "fallback", meets: { 0: "refuses" } },
    steps: [
      {
        watches: "a",
        opens: ["main", "main at 1"],
        asks: [{ on: "main at 1", names: ["a"], node: "n1" }],
      },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        on: "main at 1",
        asks: [{ on: "main at 1", names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { passes: 250, opens: ["main"] },
      { meets: { 0: "accepts" } },
      { passes: 500, opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      {
        responds: { version: "7", nonce: "B", resources: ["a@2"] },
        asks: [{ names: ["a"], version: "7", nonce: "B" }],
        tells: { a: ["a@2"] },
        closes: ["main at 1"],
      },
    ],
  },
  {
    id: "C-FBK-04",
    says: "replaces what a worse server said by what the better one says, and keeps nothing of the worse one",
    ...ofCds,
    memoryOnly: EXACT,
    setup: { servers: 2, failover: "fallback", meets: { 0: "refuses" } },
    steps: [
      { watches: "*", opens: ["main", "main at 1"], asks: [{ on: "main at 1", node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        on: "main at 1",
        asks: [{ on: "main at 1", version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      { meets: { 0: "accepts" } },
      { passes: 250, opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "7", nonce: "B", resources: ["b@2"] },
        asks: [{ version: "7", nonce: "B" }],
        tells: { "*": ["a removed", "b@2"] },
        closes: ["main at 1"],
      },
    ],
  },
  {
    id: "C-FBK-02",
    says: "turns to a worse server only when something that it wants is not held",
    ...ofEds,
    memoryOnly: EXACT,
    setup: { servers: 2, failover: "fallback-when-missing" },
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { meets: { 0: "refuses" } },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 250, opens: ["main"], tells: { a: ["unreachable 14"] } },
      {
        watches: "b",
        opens: ["main at 1"],
        asks: [{ on: "main at 1", names: ["a", "b"], node: "n1" }],
        tells: { b: ["unreachable 14"] },
      },
    ],
  },
  {
    id: "C-FBK-02/known",
    says: "does not turn to a worse server for what the better one said is not there, nor for what it refused",
    variant: "delta",
    type: "eds",
    memoryOnly: EXACT,
    setup: { servers: 2, failover: "fallback-when-missing" },
    steps: [
      firstSubscription("a", "b"),
      {
        responds: { nonce: "A", resources: [{ is: "b@1", isBad: true }] },
        asks: [{ nonce: "A", error: ["b"] }],
        tells: { b: ["b rejected 3"] },
      },
      { responds: { nonce: "B", removed: ["a"] }, asks: [{ nonce: "B" }], tells: { a: ["a does-not-exist"] } },
      { meets: { 0: "refuses" } },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 250, opens: ["main"], tells: { a: ["unreachable 14"], b: ["unreachable 14"] } },
    ],
  },
  {
    id: "C-TYP-14",
    says: "takes a resource of v2 for one of v3, if it is told to",
    ...ofEds,
    memoryOnly: "resources are converted as they are read",
    setup: { dialect: { acceptTwinTypes: true } },
    steps: [
      firstRequest("a"),
      {
        responds: { type: "eds.v2", version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
    ],
  },
  {
    id: "C-CLI-07",
    says: "asks in one request for all that came to be wanted at once",
    ...ofCds,
    streams: ["ads"],
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1", "c@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "c@1", "synced"] },
      },
      { watches: ["a", "b", "c"], type: "eds", asks: [{ type: "eds", names: ["a", "b", "c"] }] },
    ],
  },
  {
    id: "B-MSC-01",
    says: "keeps what proxies must not keep, because it is who uses it",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", doNotCache: true }] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { watches: "a", as: "second", tells: { second: ["a@1"] } },
    ],
  },
  {
    id: "B-MSC-03",
    says: "takes a canary like any other response",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", isCanary: true, resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
    ],
  },
  {
    id: "C-OBS-01",
    says: "reports what happens at its source",
    ...ofEds,
    memoryOnly: "reports are not seen over a connection",
    setup: { absenceMs: 1_000 },
    steps: [
      { ...firstRequest("a", "b"), reports: ["stream-opened", "request-sent initial"] },
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "a@1", version: "X", ttl: 60_000 }] },
        asks: [{ names: ["a", "b"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
        reports: ["server-chosen 0", "response-accepted 1 new", "request-sent ack"],
      },
      { passes: 1_000, tells: { b: ["b does-not-exist"] }, reports: ["absence-timeout b"] },
      {
        responds: { version: "X", nonce: "B", resources: [{ is: "a", version: "X", ttl: 1_000 }] },
        asks: [{ names: ["a", "b"], version: "X", nonce: "B" }],
        reports: ["response-accepted 1 same", "request-sent ack"],
      },
      {
        responds: { version: "Y", nonce: "C", resources: [{ is: "a@2", isBad: true }] },
        asks: [{ names: ["a", "b"], version: "X", nonce: "C", error: ["a"] }],
        tells: { a: ["a rejected 3, a@1"] },
        reports: ["response-rejected", "request-sent nack"],
      },
      { passes: 1_000, tells: { a: ["a expired"] }, reports: ["resource-expired a"] },
      { ends: "main", with: "UNAVAILABLE", reports: ["stream-ended 14 answered"] },
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
      { watches: "*", opens: ["main"], tells: { "*": ["a@1 restored", "b@1 restored", "unreachable 14", "synced"] } },
      { meets: { 0: "accepts" } },
      { passes: 500, opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["b@2"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["recovered", "a removed", "b@2"] },
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
      { restores: ["late@1"] },
      {
        responds: { version: "X", nonce: "A", resources: ["b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["b@1", "synced"] },
      },
    ],
  },
];
