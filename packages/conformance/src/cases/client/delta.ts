import type { ClientCase } from "../../client-case.ts";
import { firstSubscription } from "./beginning.ts";

const deltaEds = { variant: "delta", type: "eds" } as const;
const deltaCds = { variant: "delta", type: "cds" } as const;

/** DLT: the delta variant. */
export const deltaCases: readonly ClientCase[] = [
  {
    id: "C-DLT-06",
    also: ["D11", "C-DLT-04", "C-DLT-03", "B-VER-07"],
    says: "refuses a push by its nonce, and asks for one more name without one, beside everything",
    ...deltaCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { nonce: "n0", version: "9", resources: ["foo@0"] },
        asks: [{ nonce: "n0" }],
        tells: { "*": ["foo@0", "synced"] },
      },
      {
        responds: { nonce: "n1", version: "8", resources: [{ is: "bar@0", isBad: true }] },
        asks: [{ nonce: "n1", error: ["bar"] }],
        tells: { "*": ["bar rejected 3"] },
      },
      { watches: "wc", asks: [{ subscribe: ["wc"] }] },
      {
        responds: { nonce: "n2", version: "10", resources: ["wc@0"] },
        asks: [{ nonce: "n2" }],
        tells: { "*": ["wc@0"], wc: ["wc@0"] },
      },
    ],
  },
  {
    id: "C-DLT-06/whole",
    also: ["B-ACK-08"],
    says: "uses nothing of a delta response that it refuses, removals neither",
    ...deltaEds,
    steps: [
      firstSubscription("a", "b", "c"),
      {
        responds: { nonce: "A", resources: ["a@1", "b@1", "c@1"] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"], b: ["b@1"], c: ["c@1"] },
      },
      {
        responds: { nonce: "B", resources: ["a@2", { is: "b@2", isBad: true }], removed: ["c"] },
        asks: [{ nonce: "B", error: ["b"] }],
        tells: { a: ["a rejected 3, a@1"], b: ["b rejected 3, b@1"] },
      },
      { ends: "main", with: "UNAVAILABLE" },
      {
        passes: 500,
        opens: ["main"],
        asks: [{ subscribe: ["a", "b", "c"], initial: ["a=1", "b=1", "c=1"], node: "n1" }],
      },
    ],
  },
  {
    id: "C-DLT-06/apply-valid",
    also: ["B-ACK-08"],
    says: "uses what is good in a delta response that it refuses, if it is told to",
    ...deltaEds,
    setup: { dialect: { nackPolicy: "apply-valid" } },
    steps: [
      firstSubscription("a", "b"),
      {
        responds: { nonce: "A", resources: ["a@1", { is: "b@1", isBad: true }] },
        asks: [{ nonce: "A", error: ["b"] }],
        tells: { a: ["a@1"], b: ["b rejected 3"] },
      },
    ],
  },
  {
    id: "B-VER-07",
    says: "does nothing for the sake of a system version, and gives none back",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A", version: "5", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { a: ["a@1"] } },
      { responds: { nonce: "B", version: "5", resources: ["a@2"] }, asks: [{ nonce: "B" }], tells: { a: ["a@2"] } },
      { responds: { nonce: "C", version: "4", resources: ["a@3"] }, asks: [{ nonce: "C" }], tells: { a: ["a@3"] } },
    ],
  },
  {
    id: "B-DLT-11",
    also: ["O-14"],
    says: "acknowledges without naming anything, also a response that holds nothing",
    ...deltaEds,
    steps: [
      firstSubscription("a"),
      { responds: { nonce: "A" }, asks: [{ nonce: "A" }] },
      { responds: { nonce: "B", resources: ["a@1"] }, asks: [{ nonce: "B" }], tells: { a: ["a@1"] } },
    ],
  },
  {
    id: "C-DLT-15",
    also: ["B-DLT-12"],
    says: "serves everybody who asked for a resource by its name or an alias",
    ...deltaEds,
    steps: [
      firstSubscription("a", "x", "y"),
      {
        responds: { nonce: "A", resources: [{ is: "a@1", aliases: ["x"] }] },
        asks: [{ nonce: "A" }],
        tells: { a: ["a@1"], x: ["a@1"] },
      },
      {
        responds: { nonce: "B", removed: ["a"] },
        asks: [{ nonce: "B" }],
        tells: { a: ["a removed"], x: ["a removed"] },
      },
    ],
  },
  {
    id: "C-CLI-08",
    says: "tells what is gone before what is new",
    ...deltaCds,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }], tells: { "*": ["a@1", "synced"] } },
      {
        responds: { nonce: "B", resources: ["b@1"], removed: ["a"] },
        asks: [{ nonce: "B" }],
        tells: { "*": ["a removed", "b@1"] },
      },
    ],
  },
];
