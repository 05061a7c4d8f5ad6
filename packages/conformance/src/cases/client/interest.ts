import type { ClientCase } from "../../client-case.ts";
import { firstRequest, firstSubscription } from "./beginning.ts";

const ofEds = { variant: "sotw", type: "eds" } as const;
const deltaEds = { variant: "delta", type: "eds" } as const;
const ofCds = { variant: "sotw", type: "cds" } as const;
const deltaCds = { variant: "delta", type: "cds" } as const;

/** SUB, UNS: subscribing and unsubscribing. */
export const interestCases: readonly ClientCase[] = [
  {
    id: "C-SUB-01",
    also: ["C-UNS-01", "C-CLI-01"],
    says: "names everything that it wants in each request, and no more what it does not want",
    ...ofEds,
    steps: [
      firstRequest("a", "b"),
      { watches: "c", asks: [{ names: ["a", "b", "c"] }] },
      { stops: "a", asks: [{ names: ["b", "c"] }] },
      { stops: "c", asks: [{ names: ["b"] }] },
    ],
  },
  {
    id: "C-SUB-01/delta",
    also: ["C-UNS-02", "C-DLT-03", "C-DLT-04", "C-CLI-01"],
    says: "tells what it wants more and what less, without a nonce",
    ...deltaEds,
    steps: [
      firstSubscription("a", "b"),
      {
        responds: { nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"], b: ["b@1"] },
      },
      { watches: "c", asks: [{ subscribe: ["c"] }] },
      { stops: "a", asks: [{ unsubscribe: ["a"] }] },
    ],
  },
  {
    id: "C-CLI-01",
    says: "asks for a name once for all who watch it, and gives it up with the last of them",
    ...ofEds,
    steps: [
      firstRequest("a", "b"),
      { watches: "a", as: "second" },
      { stops: "a" },
      { stops: "second", asks: [{ names: ["b"] }] },
      { watches: "a", as: "third", asks: [{ names: ["a", "b"] }] },
    ],
  },
  {
    id: "C-CLI-01/last",
    says: "gives its stream up with the last of all watches",
    ...ofEds,
    steps: [
      firstRequest("a"),
      { watches: "a", as: "second" },
      { stops: "a" },
      { stops: "second", closes: ["main"] },
      { watches: "a", as: "third", opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
    ],
  },
  {
    id: "C-CLI-02",
    says: "tells a second watch what is held, and asks nobody",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { watches: "a", as: "second", tells: { second: ["a@1"] } },
    ],
  },
  {
    id: "C-CLI-02/delta",
    says: "tells a watch of one name what it holds by its wildcard, and one of everything that this is all",
    ...deltaCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      { watches: "a", asks: [{ subscribe: ["a"] }], tells: { a: ["a@1"] } },
      { watches: "*", as: "second", tells: { second: ["a@1", "b@1", "synced"] } },
    ],
  },
  {
    id: "C-SUB-04",
    says: "drops what nobody asked for, without a word",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "stranger@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { watches: "stranger", asks: [{ names: ["a", "stranger"], version: "X", nonce: "A" }] },
    ],
  },
  {
    id: "C-SUB-04/delta",
    also: ["C-REC-06"],
    says: "drops what nobody asked for, and does not report it to the next stream",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: ["a@1", "stranger@1"] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["a"], initial: ["a=1"], node: "n1" }] },
    ],
  },
  {
    id: "C-SUB-17",
    also: ["B-SUB-07"],
    says: "asks for everything by naming nothing",
    ...ofCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
    ],
  },
  {
    id: "C-SUB-17/star",
    also: ["B-SUB-07", "B-UNS-08"],
    says: "asks for everything with a star if it is told to",
    ...ofCds,
    setup: { dialect: { explicitWildcard: true } },
    steps: [
      { watches: "*", opens: ["main"], asks: [{ names: ["*"], node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["*"], version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "synced"] },
      },
    ],
  },
  {
    id: "C-SUB-17/delta",
    also: ["B-SUB-07", "O-14"],
    says: "asks for everything by naming nothing, and takes an answer with nothing in it",
    ...deltaCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { nonce: "A" }, asks: [{ nonce: "A" }], tells: { "*": ["synced"] } },
      {
        responds: { nonce: "B", resources: ["a@1"] },
        asks: [{ nonce: "B" }],
        tells: { "*": ["a@1"] },
      },
    ],
  },
  {
    id: "C-SUB-17/delta-star",
    also: ["C-UNS-09"],
    says: "asks for everything with a star if it is told to, and gives it up by it",
    ...deltaCds,
    setup: { dialect: { explicitWildcard: true } },
    steps: [
      { watches: ["*", "b"], opens: ["main"], asks: [{ subscribe: ["*", "b"], node: "n1" }] },
      {
        responds: { nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"], b: ["b@1"] },
      },
      { stops: "*", asks: [{ unsubscribe: ["*"] }] },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["b"], initial: ["b=1"], node: "n1" }] },
    ],
  },
  {
    id: "C-SUB-17/names",
    says: "names what it wants of clusters, and takes nothing else for it",
    ...ofCds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
    ],
  },
  {
    id: "E1",
    says: "names a star beside names, because a list without it ends the wildcard",
    ...ofCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["b@1", "synced"] },
      },
      { watches: "a", asks: [{ names: ["*", "a"], version: "X", nonce: "A" }] },
      { stops: "*", asks: [{ names: ["a"], version: "X", nonce: "A" }] },
    ],
  },
  {
    id: "E1/covered",
    says: "does not name what is in everything that it asked for, but by itself",
    ...ofCds,
    steps: [
      { watches: ["*", "a"], opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "synced"], a: ["a@1"] },
      },
      { stops: "*", asks: [{ names: ["a"], version: "X", nonce: "A" }] },
    ],
  },
  {
    id: "E1/sticky",
    says: "goes on naming nothing once it asked for everything, as servers of older editions want it",
    ...ofCds,
    setup: { dialect: { wildcardSticky: true } },
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { watches: "a" },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "synced"], a: ["a@1"] },
      },
    ],
  },
  {
    id: "C-SUB-18",
    says: "does not ask on a new stream for a type of which it wants nothing any more",
    ...ofCds,
    streams: ["ads"],
    steps: [
      firstRequest("a"),
      { watches: "b", type: "eds", asks: [{ type: "eds", names: ["b"] }] },
      { stops: "a", asks: [{}] },
      { ends: "main", with: "UNAVAILABLE", tells: { b: ["unreachable 14"] } },
      { passes: 500, opens: ["main"], asks: [{ type: "eds", names: ["b"], node: "n1" }] },
    ],
  },
  {
    id: "C-SUB-18/delta",
    says: "does not ask on a new delta stream for a type of which it wants nothing any more",
    ...deltaCds,
    streams: ["ads"],
    steps: [
      firstSubscription("a"),
      { watches: "b", type: "eds", asks: [{ type: "eds", subscribe: ["b"] }] },
      { stops: "a", asks: [{ unsubscribe: ["a"] }] },
      { ends: "main", with: "UNAVAILABLE", tells: { b: ["unreachable 14"] } },
      { passes: 500, opens: ["main"], asks: [{ type: "eds", subscribe: ["b"], node: "n1" }] },
    ],
  },
  {
    id: "B-UNS-08",
    says: "gives up everything, and keeps a name that it asked for besides",
    ...ofCds,
    setup: { dialect: { explicitWildcard: true } },
    steps: [
      { watches: ["*", "a"], opens: ["main"], asks: [{ names: ["*", "a"], node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ names: ["*", "a"], version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"], a: ["a@1"] },
      },
      { stops: "*", asks: [{ names: ["a"], version: "X", nonce: "A" }] },
      {
        responds: { version: "Y", nonce: "B", resources: ["a@2", "b@2"] },
        asks: [{ names: ["a"], version: "Y", nonce: "B" }],
        tells: { a: ["a@2"] },
      },
    ],
  },
  {
    id: "B-UNS-08/nothing",
    also: ["C-SUB-18"],
    says: "gives up everything by naming nothing once it named a star",
    ...ofCds,
    streams: ["ads"],
    setup: { dialect: { explicitWildcard: true } },
    steps: [
      { watches: "*", opens: ["main"], asks: [{ names: ["*"], node: "n1" }] },
      { watches: "e", type: "eds", asks: [{ type: "eds", names: ["e"] }] },
      { stops: "*", asks: [{}] },
    ],
  },
  {
    id: "B-UNS-08/never-named",
    says: "cannot give up everything by naming nothing if it asked for it so, and has what comes for who asks for it again",
    ...ofCds,
    streams: ["ads"],
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { watches: "e", type: "eds", asks: [{ type: "eds", names: ["e"] }] },
      { stops: "*" },
      { responds: { version: "X", nonce: "A", resources: ["a@1"] }, asks: [{ version: "X", nonce: "A" }] },
      { watches: "*", as: "again", tells: { again: ["a@1", "synced"] } },
    ],
  },
  {
    id: "C-UNS-09",
    says: "gives up everything by a star though it never named one, and holds only what it named",
    ...deltaCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { watches: "b", asks: [{ subscribe: ["b"] }] },
      {
        responds: { nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"], b: ["b@1"] },
      },
      { stops: "*", asks: [{ unsubscribe: ["*"] }] },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["b"], initial: ["b=1"], node: "n1" }] },
    ],
  },
  {
    id: "C-UNS-07",
    says: "keeps what was given up beside a wildcard until the server says whether the wildcard covers it",
    ...deltaCds,
    setup: { dialect: { explicitWildcard: true } },
    steps: [
      { watches: ["*", "z"], opens: ["main"], asks: [{ subscribe: ["*", "z"], node: "n1" }] },
      {
        responds: { nonce: "A", resources: ["a@1", "z@1"] },
        asks: [{ nonce: "A" }],
        tells: { "*": ["a@1", "z@1", "synced"], z: ["z@1"] },
      },
      { stops: "z", asks: [{ unsubscribe: ["z"] }] },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["*"], initial: ["a=1", "z=1"], node: "n1" }] },
      {
        responds: { nonce: "B", removed: ["z"] },
        asks: [{ nonce: "B" }],
        tells: { "*": ["z removed"] },
      },
    ],
  },
  {
    id: "B-UNS-10",
    also: ["C-DLT-15", "B-DLT-12"],
    says: "gives a resource up by the alias that it asked for, and holds it no more",
    ...deltaEds,
    steps: [
      firstSubscription("alias", "other"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", aliases: ["alias"] }] },
        asks: [{ nonce: "A" }],
        tells: { alias: ["a@1"] },
      },
      { stops: "alias", asks: [{ unsubscribe: ["alias"] }] },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["other"], node: "n1" }] },
    ],
  },
  {
    id: "B-UNS-11",
    also: ["C-DLT-20"],
    says: "asks for a name that is not wanted and wanted again before a request can leave, and does not give it up in the same request",
    ...deltaEds,
    memoryOnly: "judging takes no time that a case could use",
    steps: [
      firstSubscription("a", "b"),
      { arrives: { nonce: "A", resources: ["a@1"] } },
      { stops: "a" },
      { watches: "a", as: "again" },
      { watches: "c" },
      { stops: "c" },
      { judged: "main", asks: [{ subscribe: ["a"], nonce: "A" }], tells: { again: ["a@1"] } },
    ],
  },
];
