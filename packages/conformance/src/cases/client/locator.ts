import { constraintsOf } from "@xdskit/protocol/internal";
import type { ClientCase } from "../../client-case.ts";

const deltaEds = { variant: "delta", type: "eds" } as const;

/** LOC: resource locators, that is names with dynamic parameters. */
export const locatorCases: readonly ClientCase[] = [
  {
    id: "C-LOC-01",
    also: ["B-LOC-09", "B-LOC-11"],
    says: "asks for a name with parameters beside one without any, and for the same with others",
    ...deltaEds,
    steps: [
      {
        watches: ["a {env=prod}", "b"],
        opens: ["main"],
        asks: [{ subscribe: ["a {env=prod}", "b"], node: "n1" }],
      },
      { watches: "a {env=test}", asks: [{ subscribe: ["a {env=test}"] }] },
      { stops: "a {env=prod}", asks: [{ unsubscribe: ["a {env=prod}"] }] },
    ],
  },
  {
    id: "C-LOC-02",
    also: ["C-LOC-01", "C-LOC-10"],
    says: "takes a resource in a wrapper for what it asked for with parameters, and drops one that does not fit them",
    variant: "sotw",
    type: "eds",
    steps: [
      { watches: "a {env=prod}", opens: ["main"], asks: [{ names: ["a {env=prod}"], node: "n1" }] },
      {
        responds: {
          version: "X",
          nonce: "A",
          resources: [{ is: "a@1", version: "X", when: constraintsOf(new Map([["env", "prod"]])) }],
        },
        asks: [{ names: ["a {env=prod}"], version: "X", nonce: "A" }],
        tells: { "a {env=prod}": ['a@1 [env = "prod"]'] },
      },
      {
        responds: {
          version: "Y",
          nonce: "B",
          resources: [{ is: "a@2", version: "Y", when: constraintsOf(new Map([["env", "test"]])) }],
        },
        asks: [{ names: ["a {env=prod}"], version: "Y", nonce: "B" }],
      },
    ],
  },
];
