import type { ClientCase } from "../../client-case.ts";
import { firstRequest, firstSubscription } from "./beginning.ts";

const ofEds = { variant: "sotw", type: "eds" } as const;
const deltaEds = { variant: "delta", type: "eds" } as const;
const ofCds = { variant: "sotw", type: "cds" } as const;
const deltaCds = { variant: "delta", type: "cds" } as const;

/** RES, DEL: how responses and removals are applied. */
export const deliveryCases: readonly ClientCase[] = [
  {
    id: "C-RES-09",
    also: ["B-DLT-17", "B-GEN-02"],
    says: "leaves alone what a response does not mention",
    ...deltaEds,
    steps: [
      firstSubscription("a", "b"),
      {
        responds: { nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"], b: ["b@1"] },
      },
      { responds: { nonce: "B", resources: ["a@2"] }, asks: [{ nonce: "B" }], tells: { a: ["a@2"] } },
      { watches: "b", as: "later", tells: { later: ["b@1"] } },
    ],
  },
  {
    id: "B-RES-10",
    also: ["E21"],
    says: "refuses a response that names a resource twice",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "a@2"] },
        asks: [{ names: ["a"], nonce: "A", error: ["a"] }],
        tells: { a: ["rejected 3"] },
      },
    ],
  },
  {
    id: "B-RES-10/2018",
    also: ["E21"],
    says: "takes the last of two resources of a name, as the edition of 2018 does",
    ...ofEds,
    setup: { edition: "2018" },
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "a@2"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@2"] },
      },
    ],
  },
  {
    id: "B-RES-10/delta",
    says: "refuses a delta response that names a resource twice",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: ["a@1", "a@2"] },
        asks: [{ nonce: "A", error: ["a"] }],
        tells: { a: ["rejected 3"] },
      },
    ],
  },
  {
    id: "C-RES-11",
    says: "refuses a response that brings and removes a name",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", resources: ["a@1"], removed: ["a"] },
        asks: [{ nonce: "A", error: ["a"] }],
        tells: { a: ["rejected 3"] },
      },
    ],
  },
  {
    id: "C-RES-11/twice",
    says: "refuses a response that removes a name twice, and keeps what it has",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { a: ["a@1"] } },
      {
        responds: { nonce: "B", removed: ["a", "a"] },
        asks: [{ nonce: "B", error: ["a"] }],
        tells: { a: ["rejected 3"] },
      },
      { watches: "a", as: "late", tells: { late: ["a@1"] } },
    ],
  },
  {
    id: "C-RES-12",
    also: ["C-TTL-04"],
    says: "refuses a response that names a resource twice, once in a wrapper",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", { is: "a@2", isWrapped: true, version: "X" }] },
        asks: [{ names: ["a"], nonce: "A", error: ["a"] }],
        tells: { a: ["rejected 3"] },
      },
    ],
  },
  {
    id: "C-RES-17",
    also: ["C-DEL-01"],
    says: "takes an empty response of clusters for the end of all of them",
    ...ofCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      {
        responds: { version: "Y", nonce: "B" },
        asks: [{ version: "Y", nonce: "B" }],
        tells: { "*": ["a removed", "b removed"] },
      },
    ],
  },
  {
    id: "C-RES-17/first",
    says: "takes an empty first response of clusters for the word that there are none",
    ...ofCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { version: "X", nonce: "A" }, asks: [{ version: "X", nonce: "A" }], tells: { "*": ["synced"] } },
      { watches: "*", as: "second", tells: { second: ["synced"] } },
    ],
  },
  {
    id: "C-RES-17/named",
    also: ["C-DEL-02"],
    says: "takes an empty response of endpoints for nothing at all",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { responds: { version: "Y", nonce: "B" }, asks: [{ names: ["a"], version: "Y", nonce: "B" }] },
      { watches: "a", as: "later", tells: { later: ["a@1"] } },
    ],
  },
  {
    id: "C-DEL-01/refused",
    says: "takes a cluster that it refused, and that is then left out, for one that does not exist",
    ...ofCds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: [{ is: "a@1", isBad: true }] },
        asks: [{ names: ["a"], nonce: "A", error: ["a"] }],
        tells: { a: ["a rejected 3"] },
      },
      {
        responds: { version: "Y", nonce: "B" },
        asks: [{ names: ["a"], version: "Y", nonce: "B" }],
        tells: { a: ["a does-not-exist"] },
      },
    ],
  },
  {
    id: "C-DEL-01",
    also: ["C-CLI-08"],
    says: "takes what a response of clusters leaves out for gone, and tells that before what is new",
    ...ofCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      {
        responds: { version: "Y", nonce: "B", resources: ["c@1", "a@2"] },
        asks: [{ version: "Y", nonce: "B" }],
        tells: { "*": ["b removed", "c@1", "a@2"] },
      },
    ],
  },
  {
    id: "C-DEL-01/named",
    says: "takes a cluster that it asked for by name for gone when a response leaves it out",
    ...ofCds,
    steps: [
      firstRequest("a", "b"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ names: ["a", "b"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"], b: ["b@1"] },
      },
      {
        responds: { version: "Y", nonce: "B", resources: ["b@1"] },
        asks: [{ names: ["a", "b"], version: "Y", nonce: "B" }],
        tells: { a: ["a removed"] },
      },
    ],
  },
  {
    id: "O-10",
    says: "takes scoped routes that a response leaves out for gone",
    variant: "sotw",
    type: "srds",
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      {
        responds: { version: "Y", nonce: "B", resources: ["b@1"] },
        asks: [{ version: "Y", nonce: "B" }],
        tells: { "*": ["a removed"] },
      },
    ],
  },
  {
    id: "O-10/off",
    says: "keeps scoped routes that a response leaves out, if it is told to",
    variant: "sotw",
    type: "srds",
    setup: { dialect: { srdsFullState: false } },
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      { responds: { version: "Y", nonce: "B", resources: ["b@1"] }, asks: [{ version: "Y", nonce: "B" }] },
    ],
  },
  {
    id: "C-DEL-02",
    says: "keeps routes that a response leaves out",
    variant: "sotw",
    type: "rds",
    steps: [
      firstRequest("a", "b"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ names: ["a", "b"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"], b: ["b@1"] },
      },
      {
        responds: { version: "Y", nonce: "B", resources: ["b@2"] },
        asks: [{ names: ["a", "b"], version: "Y", nonce: "B" }],
        tells: { b: ["b@2"] },
      },
      { watches: "a", as: "later", tells: { later: ["a@1"] } },
    ],
  },
  {
    id: "C-DEL-05",
    also: ["C-NEX-05"],
    says: "drops what is removed, goes on asking for it, and takes it when it is there again",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { a: ["a@1"] } },
      { responds: { nonce: "B", removed: ["a"] }, asks: [{ nonce: "B" }], tells: { a: ["a removed"] } },
      { responds: { nonce: "C", resources: ["a@1"] }, asks: [{ nonce: "C" }], tells: { a: ["a@1"] } },
    ],
  },
  {
    id: "C-DEL-06",
    says: "acknowledges the removal of what it never had or asked for",
    ...deltaCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { nonce: "A", resources: ["a@1"], removed: ["ghost"] },
        asks: [{ nonce: "A" }],
        tells: { "*": ["a@1", "synced"] },
      },
    ],
  },
  {
    id: "C-DEL-10",
    says: "goes on using a deleted cluster if it is told to, and says once that it is deleted",
    ...ofCds,
    setup: { dialect: { ignoreDeletion: true } },
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1", "b@1"] },
        asks: [{ version: "X", nonce: "A" }],
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      {
        responds: { version: "Y", nonce: "B", resources: ["b@1"] },
        asks: [{ version: "Y", nonce: "B" }],
        tells: { "*": ["a removed, a@1"] },
      },
      { responds: { version: "Z", nonce: "C", resources: ["b@1"] }, asks: [{ version: "Z", nonce: "C" }] },
    ],
  },
  {
    id: "C-DEL-10/delta",
    says: "goes on using a removed cluster if it is told to",
    ...deltaCds,
    setup: { dialect: { ignoreDeletion: true } },
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { nonce: "A", resources: ["a@1"] },
        asks: [{ nonce: "A" }],
        tells: { "*": ["a@1", "synced"] },
      },
      { responds: { nonce: "B", removed: ["a"] }, asks: [{ nonce: "B" }], tells: { "*": ["a removed, a@1"] } },
    ],
  },
  {
    id: "C-CLI-03",
    says: "tells nobody of equal content, though its version is another",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { a: ["a@1"] } },
      { responds: { nonce: "B", resources: [{ is: "a@1", version: "other" }] }, asks: [{ nonce: "B" }] },
      { ends: "main", with: "OK" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["a"], initial: ["a=other"], node: "n1" }] },
    ],
  },
];
