import type { ClientCase, Garbage, ScriptedResponse, SentRequest } from "../../client-case.ts";
import { firstRequest, firstSubscription } from "./beginning.ts";

const ofEds = { variant: "sotw", type: "eds" } as const;
const deltaEds = { variant: "delta", type: "eds" } as const;
const FLOOD = 200;

const numbers = Array.from({ length: FLOOD }, (_, number) => number);
const flood: readonly ScriptedResponse[] = numbers.map((number) => ({
  version: `v${number}`,
  nonce: `n${number}`,
  resources: [`a@${number}`],
}));
const answers: readonly SentRequest[] = numbers.map((number) => ({
  names: ["a"],
  version: `v${number}`,
  nonce: `n${number}`,
}));

/** Misbehaviour of servers, and rare behaviour. */
export const misbehaviourCases: readonly ClientCase[] = [
  {
    id: "C-ACK-01/same-nonce",
    says: "answers two responses that share a nonce, each in its turn",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: [
          { version: "X", nonce: "A", resources: ["a@1"] },
          { version: "Y", nonce: "A", resources: ["a@2"] },
        ],
        asks: [
          { names: ["a"], version: "X", nonce: "A" },
          { names: ["a"], version: "Y", nonce: "A" },
        ],
        tells: { a: ["a@1", "a@2"] },
      },
    ],
  },
  {
    id: "C-ACK-01/no-nonce",
    says: "answers a response without a nonce and without a version as well as that can be done",
    ...ofEds,
    steps: [firstRequest("a"), { responds: { resources: ["a@1"] }, asks: [{ names: ["a"] }], tells: { a: ["a@1"] } }],
  },
  {
    id: "C-DLT-04/no-nonce",
    says: "answers a delta response without a nonce as well as that can be done",
    ...deltaEds,
    steps: [firstSubscription("a"), { responds: { resources: ["a@1"] }, asks: [{}], tells: { a: ["a@1"] } }],
  },
  {
    id: "C-TYP-13/given-up",
    also: ["C-UNS-01", "C-SUB-04"],
    says: "answers a response that was on its way when its name was given up, and tells nobody",
    ...ofEds,
    steps: [
      firstRequest("a", "b"),
      { stops: "a", asks: [{ names: ["b"] }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["b"], version: "X", nonce: "A" }],
      },
      { watches: "a", as: "again", asks: [{ names: ["a", "b"], version: "X", nonce: "A" }] },
    ],
  },
  {
    id: "C-UNS-02/given-up",
    also: ["C-SUB-04"],
    says: "answers a delta response that was on its way when its name was given up, and holds nothing of it",
    ...deltaEds,
    steps: [
      firstSubscription("a", "b"),
      { stops: "a", asks: [{ unsubscribe: ["a"] }] },
      { responds: { nonce: "A", resources: ["a@1"] }, asks: [{ nonce: "A" }] },
      { ends: "main", with: "UNAVAILABLE" },
      { passes: 500, opens: ["main"], asks: [{ subscribe: ["b"], node: "n1" }] },
    ],
  },
  {
    id: "C-ACK-01/flood",
    says: "answers every response of a flood",
    ...ofEds,
    memoryOnly: "a watch need not be told of what was overtaken",
    steps: [
      firstRequest("a"),
      { responds: flood, asks: answers, tells: { a: numbers.map((number) => `a@${number}`) } },
    ],
  },
  ...(["no message", "cut", "too large"] as const).map(afterGarbage),
  {
    id: "C-NON-09",
    says: "asks for more while a server is silent, and waits for nothing first",
    ...ofEds,
    steps: [
      firstRequest("a"),
      { watches: "b", asks: [{ names: ["a", "b"] }] },
      { watches: "c", asks: [{ names: ["a", "b", "c"] }] },
    ],
  },
  {
    id: "C-REC-02/endings",
    says: "opens a new stream however the last one ended",
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { ends: "main", with: "OK" },
      { passes: 500, opens: ["main"], asks: [{ names: ["a"], version: "X", node: "n1" }] },
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
      },
      { ends: "main", with: "UNIMPLEMENTED" },
      { passes: 500, opens: ["main"], asks: [{ names: ["a"], version: "X", node: "n1" }] },
    ],
  },
];

function afterGarbage(as: Garbage): ClientCase {
  return {
    id: `C-REC-01/${as.replace(" ", "-")}`,
    also: ["C-FBK-01", ...(as === "too large" ? ["B-GRP-08"] : [])],
    says: `keeps what it holds when what a server sends is ${as === "no message" ? as : `a message that is ${as}`}, and opens a new stream`,
    ...ofEds,
    steps: [
      firstRequest("a"),
      {
        responds: { version: "X", nonce: "A", resources: ["a@1"] },
        asks: [{ names: ["a"], version: "X", nonce: "A" }],
        tells: { a: ["a@1"] },
      },
      { garbles: "main", as },
      { passes: 500, opens: ["main"], asks: [{ names: ["a"], version: "X", node: "n1" }] },
      { watches: "a", as: "late", tells: { late: ["a@1"] } },
    ],
  };
}
