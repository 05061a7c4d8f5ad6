import type { ClientCase } from "../../client-case.ts";
import { firstRequest, firstSubscription } from "./beginning.ts";

const ofEds = { variant: "sotw", type: "eds" } as const;
const deltaEds = { variant: "delta", type: "eds" } as const;
const deltaCds = { variant: "delta", type: "cds" } as const;
const FIFTEEN_SECONDS = "fifteen seconds have to pass";

/** ERR: resource errors. */
export const errorCases: readonly ClientCase[] = [
  {
    id: "C-ERR-06",
    also: ["C-ERR-11", "C-ERR-07"],
    says: "tells an error of a name, acknowledges it, and does not wait for the name any more",
    ...deltaEds,
    memoryOnly: FIFTEEN_SECONDS,
    steps: [
      firstSubscription("a"),
      {
        responds: { nonce: "A", errors: ["a 14 busy"] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a resource-error 14"] },
      },
      { passes: 60_000 },
      { watches: "a", as: "late", tells: { late: ["a resource-error 14"] } },
      { responds: { nonce: "B", resources: ["a@1"] }, asks: [{ nonce: "B" }], tells: { a: ["a@1"], late: ["a@1"] } },
      { watches: "a", as: "later", tells: { later: ["a@1"] } },
    ],
  },
  {
    id: "C-ERR-06/alias",
    also: ["C-DLT-15"],
    says: "speaks no more of the error of an alias once what has it is there",
    ...deltaEds,
    steps: [
      firstSubscription("x"),
      {
        responds: { nonce: "A", errors: ["x 14 busy"] },
        asks: [{ nonce: "A" }],
        tells: { x: ["x resource-error 14"] },
      },
      {
        responds: { nonce: "B", resources: [{ is: "a@1", aliases: ["x"] }] },
        asks: [{ nonce: "B" }],
        tells: { x: ["a@1"] },
      },
      { watches: "x", as: "late", tells: { late: ["a@1"] } },
    ],
  },
  {
    id: "C-ERR-11",
    says: "acknowledges a response that holds nothing but an error",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", errors: ["a 13 broken"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a resource-error 13"] },
      },
    ],
  },
  {
    id: "C-ERR-07",
    says: "keeps what it holds of a name that the server has an error for, whatever the code",
    ...deltaEds,
    steps: [
      firstSubscription("a", "b", "c", "d"),
      {
        responds: { nonce: "A", resources: ["a@1", "b@1", "c@1", "d@1"] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"], b: ["b@1"], c: ["c@1"], d: ["d@1"] },
      },
      {
        responds: { nonce: "B", errors: ["a 14 busy", "b 13 broken", "c 2 who knows", "d 7 secret"] },
        asks: [{ nonce: "B" }],
        tells: {
          a: ["a resource-error 14, a@1"],
          b: ["b resource-error 13, b@1"],
          c: ["c resource-error 2, c@1"],
          d: ["d resource-error 7, d@1"],
        },
      },
    ],
  },
  {
    id: "C-ERR-08",
    says: "takes NOT_FOUND for the word that there is none",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", errors: ["a 5 none"] }, asks: [{ nonce: "A" }], tells: { a: ["a does-not-exist"] } },
    ],
  },
  {
    id: "C-ERR-09",
    says: "does not use what is in error, or was refused, if it is told so",
    ...deltaEds,
    setup: { dialect: { failOnDataErrors: true } },
    steps: [
      firstSubscription("a", "b", "c"),
      {
        responds: { nonce: "A", resources: ["a@1", "b@1", "c@1"] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"], b: ["b@1"], c: ["c@1"] },
      },
      {
        responds: { nonce: "B", errors: ["a 7 secret", "b 14 busy"] },
        asks: [{ nonce: "B" }],
        tells: { a: ["a resource-error 7"], b: ["b resource-error 14, b@1"] },
      },
      {
        responds: { nonce: "C", resources: [{ is: "c@2", isBad: true }] },
        asks: [{ nonce: "C", error: ["c"] }],
        tells: { c: ["c rejected 3"] },
      },
    ],
  },
  {
    id: "C-ERR-09/deletion",
    also: ["C-DEL-10"],
    says: "does not use a cluster that was deleted if it is told so, though it is told to ignore deletions",
    variant: "sotw",
    type: "cds",
    setup: { dialect: { failOnDataErrors: true, ignoreDeletion: true } },
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      {
        responds: { version: "Y", nonce: "B" },
        asks: [{ names: ["a"], version: "Y", nonce: "B" }],
        tells: { a: ["a removed"] },
      },
    ],
  },
  {
    id: "C-ERR-10",
    says: "takes a name that nobody answers for in thirty seconds for one that cannot be reached, if it is told to",
    ...ofEds,
    memoryOnly: "thirty seconds have to pass",
    setup: { dialect: { timerIsTransient: true } },
    steps: [firstRequest("a"), { passes: 29_999 }, { passes: 1, tells: { a: ["a timeout 14"] } }],
  },
  {
    id: "B-ERR-12",
    also: ["B-XTP-05"],
    says: "tells the error of a glob collection to who watches it",
    ...deltaCds,
    steps: [
      {
        watches: "xdstp://a/envoy.config.cluster.v3.Cluster/x/*",
        as: "glob",
        opens: ["main"],
        asks: [{ subscribe: ["xdstp://a/envoy.config.cluster.v3.Cluster/x/*"], node: "n1" }],
      },
      {
        responds: { nonce: "A", errors: ["xdstp://a/envoy.config.cluster.v3.Cluster/x/* 7 secret"] },
        asks: [{ nonce: "A" }],
        tells: { glob: ["xdstp://a/envoy.config.cluster.v3.Cluster/x/* resource-error 7"] },
      },
    ],
  },
];
