import type { ClientCase } from "../../client-case.ts";
import { firstRequest, firstSubscription } from "./beginning.ts";

const ofEds = { variant: "sotw", type: "eds" } as const;
const deltaEds = { variant: "delta", type: "eds" } as const;
const FIFTEEN_SECONDS = "fifteen seconds have to pass";

/** NEX: resources that do not exist. */
export const absenceCases: readonly ClientCase[] = [
  {
    id: "C-NEX-02",
    also: ["E21", "C-NEX-05", "C-NON-09"],
    says: "tells after fifteen seconds that a name does not exist, goes on asking for it, and takes it when it comes",
    ...ofEds,
    memoryOnly: FIFTEEN_SECONDS,
    steps: [
      firstRequest("ghost"),
      { passes: 14_999 },
      { passes: 1, tells: { ghost: ["ghost does-not-exist"] } },
      { passes: 45_000 },
      {
        responds: { version: "X", nonce: "A", resources: ["ghost@1"] },
        asks: [{ names: ["ghost"], version: "X", nonce: "A" }],
        tells: { ghost: ["ghost@1"] },
      },
    ],
  },
  {
    id: "C-NEX-02/time",
    says: "waits as long as its source says",
    ...ofEds,
    setup: { absenceMs: 900 },
    steps: [firstRequest("ghost"), { passes: 1_000, tells: { ghost: ["ghost does-not-exist"] } }],
  },
  {
    id: "C-NEX-02/never",
    says: "waits for ever if its source says so",
    ...ofEds,
    memoryOnly: "an hour has to pass",
    setup: { absenceMs: 0 },
    steps: [firstRequest("ghost"), { passes: 3_600_000 }],
  },
  {
    id: "C-NEX-02/2018",
    also: ["E21"],
    says: "waits for ever as the edition of 2018 does",
    ...ofEds,
    memoryOnly: "an hour has to pass",
    setup: { edition: "2018" },
    steps: [firstRequest("ghost"), { passes: 3_600_000 }],
  },
  {
    id: "C-NEX-10",
    says: "gives a name up after fifteen seconds in delta too",
    ...deltaEds,
    memoryOnly: FIFTEEN_SECONDS,
    steps: [firstSubscription("ghost"), { passes: 14_999 }, { passes: 1, tells: { ghost: ["ghost does-not-exist"] } }],
  },
  {
    id: "C-NEX-01",
    says: "does not take a name that a response leaves out for one that does not exist",
    ...ofEds,
    memoryOnly: FIFTEEN_SECONDS,
    steps: [
      firstRequest("A"),
      { passes: 5_000 },
      { watches: "B", asks: [{ names: ["A", "B"] }] },
      {
        responds: { version: "X", nonce: "1", resources: ["A@1"] },
        asks: [{ names: ["A", "B"], version: "X", nonce: "1" }],
        tells: { A: ["A@1"] },
      },
      { passes: 14_999 },
      { passes: 1, tells: { B: ["B does-not-exist"] } },
    ],
  },
  {
    id: "C-NEX-01/full-state",
    says: "does not take a cluster that it added for one that does not exist because an answer to the names before leaves it out",
    variant: "sotw",
    type: "cds",
    steps: [
      firstRequest("A"),
      { watches: "B", asks: [{ names: ["A", "B"] }] },
      {
        responds: { version: "X", nonce: "1", resources: ["A@1"] },
        asks: [{ names: ["A", "B"], version: "X", nonce: "1" }],
        tells: { A: ["A@1"] },
      },
    ],
  },
  {
    id: "C-NEX-03",
    says: "does not count the time before its request could leave, nor the time without a stream",
    ...ofEds,
    memoryOnly: FIFTEEN_SECONDS,
    setup: { meets: { 0: "hangs" } },
    steps: [
      { watches: "a", opens: ["main"] },
      { passes: 60_000 },
      { meets: { 0: "accepts" }, asks: [{ names: ["a"], node: "n1" }] },
      { passes: 14_000 },
      { meets: { 0: "hangs" } },
      { ends: "main", with: "UNAVAILABLE", tells: { a: ["unreachable 14"] } },
      { passes: 60_000, opens: ["main"] },
      { meets: { 0: "accepts" }, asks: [{ names: ["a"], node: "n1" }] },
      { passes: 14_999 },
      { passes: 1, tells: { a: ["recovered", "a does-not-exist"] } },
    ],
  },
  {
    id: "C-NEX-03/held",
    says: "does not wait for what it holds, however long a new stream is silent",
    ...ofEds,
    memoryOnly: FIFTEEN_SECONDS,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ names: ["a"], version: "X", node: "n1" }] },
      { passes: 60_000 },
    ],
  },
  {
    id: "C-NEX-02/again",
    also: ["C-CLI-01"],
    says: "waits for a name that was given up and wanted again before a request could leave",
    ...ofEds,
    memoryOnly: "judging takes no time that a case could use",
    steps: [
      firstRequest("a", "b"),
      { passes: 5_000 },
      { arrives: { version: "X", nonce: "A", resources: ["b@1"] } },
      { stops: "a" },
      { watches: "a", as: "again" },
      { judged: "main", asks: [{ names: ["a", "b"], version: "X", nonce: "A" }], tells: { b: ["b@1"] } },
      { passes: 14_999 },
      { passes: 1, tells: { again: ["a does-not-exist"] } },
    ],
  },
  {
    id: "C-NEX-04",
    also: ["E14"],
    says: "takes a cluster that an answer to a sole wildcard leaves out for one that does not exist",
    variant: "sotw",
    type: "cds",
    setup: { dialect: { wildcardSticky: true } },
    steps: [
      { watches: ["*", "ghost"], opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "synced"], ghost: ["ghost does-not-exist"] },
      },
    ],
  },
  {
    id: "C-NEX-04/off",
    also: ["E14"],
    says: "waits for it all the same if that is no proof",
    variant: "sotw",
    type: "cds",
    memoryOnly: FIFTEEN_SECONDS,
    setup: { dialect: { wildcardSticky: true, absenceByWildcard: false } },
    steps: [
      { watches: ["*", "ghost"], opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "synced"] },
      },
      { passes: 15_000, tells: { ghost: ["ghost does-not-exist"] } },
    ],
  },
  {
    id: "C-NEX-04/error",
    also: ["C-ERR-06"],
    says: "does not take a cluster for one that does not exist that an answer to a sole wildcard has an error for",
    variant: "sotw",
    type: "cds",
    setup: { dialect: { wildcardSticky: true } },
    steps: [
      { watches: ["*", "a"], opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", errors: ["a 14 busy"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a resource-error 14", "synced"], a: ["a resource-error 14"] },
      },
    ],
  },
  {
    id: "C-NEX-08",
    also: ["C-NEX-05"],
    says: "takes a removal of what it waits for for the word that there is none",
    ...deltaEds,
    steps: [
      firstSubscription("ghost"),
      {
        responds: { nonce: "A", removed: ["ghost"] },
        asks: [{ nonce: "A" }],
        tells: { ghost: ["ghost does-not-exist"] },
      },
      { responds: { nonce: "B", resources: ["ghost@1"] }, asks: [{ nonce: "B" }], tells: { ghost: ["ghost@1"] } },
    ],
  },
  {
    id: "C-NEX-08/empty",
    also: ["E5"],
    says: "takes a resource without body and version for the word that there is none",
    ...deltaEds,
    steps: [
      firstSubscription("ghost"),
      {
        responds: { nonce: "A", resources: ["ghost"] },
        asks: [{ nonce: "A" }],
        tells: { ghost: ["ghost does-not-exist"] },
      },
    ],
  },
  {
    id: "C-NEX-08/held",
    also: ["E5"],
    says: "takes a resource without body and version for the word that what it held is gone",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { a: ["a@1"] } },
      { responds: { nonce: "B", resources: ["a"] }, asks: [{ nonce: "B" }], tells: { a: ["a removed"] } },
    ],
  },
  {
    id: "C-NEX-08/heartbeat",
    also: ["E5", "C-TTL-10"],
    says: "takes a resource without a body in the version that it holds for a sign of life",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { a: ["a@1"] } },
      { responds: { nonce: "B", resources: [{ is: "a", version: "1" }] }, asks: [{ nonce: "B" }] },
    ],
  },
];
