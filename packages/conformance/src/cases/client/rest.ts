import type { ClientCase } from "../../client-case.ts";

const polled = {
  variant: "sotw",
  type: "eds",
  streams: ["poll"],
  memoryOnly: "polls are proved with the transport",
} as const;
const polledClusters = { ...polled, type: "cds" } as const;

/** RST: REST polling, as the machine sees it. */
export const restCases: readonly ClientCase[] = [
  {
    id: "C-RST-08",
    also: ["C-RST-06", "B-RST-07", "B-NON-11", "C-RST-04"],
    says: "says everything in every poll: node, type, names and the version that it accepted",
    ...polled,
    steps: [
      { watches: ["a", "b"], opens: ["main"], asks: [{ names: ["a", "b"], node: "n1" }] },
      { responds: { version: "X", resources: ["a@1"] }, tells: { a: ["a@1"] } },
      { due: "main", asks: [{ names: ["a", "b"], version: "X", node: "n1" }] },
      { unchanged: "main" },
      { due: "main", asks: [{ names: ["a", "b"], version: "X", node: "n1" }] },
    ],
  },
  {
    id: "B-RST-07",
    says: "gives a nonce back that it was given",
    ...polled,
    steps: [
      { watches: "a", opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      { responds: { version: "X", nonce: "A", resources: ["a@1"] }, tells: { a: ["a@1"] } },
      { due: "main", asks: [{ names: ["a"], version: "X", nonce: "A", node: "n1" }] },
    ],
  },
  {
    id: "C-RST-09",
    also: ["B-ACK-16"],
    says: "says in the next poll, and only in that, why it refused an answer",
    ...polled,
    steps: [
      { watches: "a", opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      { responds: { version: "X", resources: ["a@1"] }, tells: { a: ["a@1"] } },
      { due: "main", asks: [{ names: ["a"], version: "X", node: "n1" }] },
      {
        responds: { version: "Y", resources: [{ is: "a@2", isBad: true }] },
        tells: { a: ["a rejected 3, a@1"] },
      },
      { due: "main", asks: [{ names: ["a"], version: "X", error: ["a"], node: "n1" }] },
      { unchanged: "main" },
      { due: "main", asks: [{ names: ["a"], version: "X", node: "n1" }] },
    ],
  },
  {
    id: "C-RST-18",
    says: "keeps everything when an answer cannot be read",
    ...polled,
    steps: [
      { watches: "a", opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      { responds: { version: "X", resources: ["a@1"] }, tells: { a: ["a@1"] } },
      { due: "main", asks: [{ names: ["a"], version: "X", node: "n1" }] },
      { garbles: "main", tells: { a: ["rejected 3"] } },
      { watches: "a", as: "late", tells: { late: ["a@1"] } },
      { due: "main", asks: [{ names: ["a"], version: "X", error: ["read"], node: "n1" }] },
    ],
  },
  {
    id: "C-RST-17",
    says: "keeps everything when a poll fails, and asks the next server",
    ...polled,
    setup: { servers: 2 },
    steps: [
      { watches: "a", opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      { responds: { version: "X", resources: ["a@1"] }, tells: { a: ["a@1"] } },
      { due: "main", asks: [{ names: ["a"], version: "X", node: "n1" }] },
      { ends: "main", with: "UNAVAILABLE" },
      { watches: "a", as: "late", tells: { late: ["a@1"] } },
      {
        passes: 500,
        opens: ["main at 1"],
        asks: [{ on: "main at 1", names: ["a"], node: "n1" }],
      },
    ],
  },
  {
    id: "C-RST-20",
    says: "gives a poll up for another one when what it wants changes",
    ...polled,
    steps: [
      { watches: "a", opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      { responds: { version: "X", resources: ["a@1"] }, tells: { a: ["a@1"] } },
      { due: "main", asks: [{ names: ["a"], version: "X", node: "n1" }] },
      { watches: "b", asks: [{ names: ["a", "b"], version: "X", node: "n1", isUrgent: true }] },
    ],
  },
  {
    id: "C-RST-06",
    says: "asks for a change of what it wants in the delay between two polls at once, and only once",
    ...polled,
    steps: [
      { watches: "a", opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      { responds: { version: "X", resources: ["a@1"] }, tells: { a: ["a@1"] } },
      { watches: "b", asks: [{ names: ["a", "b"], version: "X", node: "n1", isUrgent: true }] },
      { responds: { version: "Y", resources: ["b@1"] }, tells: { b: ["b@1"] } },
      { due: "main", asks: [{ names: ["a", "b"], version: "Y", node: "n1" }] },
    ],
  },
  {
    id: "C-DEL-01/rest",
    says: "takes a cluster that an answer leaves out for gone",
    ...polledClusters,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { version: "X", resources: ["a@1", "b@1"] }, tells: { "*": ["a@1", "b@1", "synced"] } },
      { due: "main", asks: [{ version: "X", node: "n1" }] },
      { responds: { version: "Y", resources: ["b@1"] }, tells: { "*": ["a removed"] } },
    ],
  },
];
