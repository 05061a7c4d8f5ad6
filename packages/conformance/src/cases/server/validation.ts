import type { Case } from "../../case.ts";

/** VAL: the protocol does not depend on valid content. */
export const validationCases: readonly Case[] = [
  {
    id: "S-VAL-03/serving",
    level: "own",
    also: ["B-VAL-04", "E33"],
    says: "serves a resource that breaks the constraints of its schema, byte by byte",
    variant: "sotw",
    type: "srds",
    steps: [
      { publishes: { srds: [{ is: "scope@1", keyless: true }] } },
      { receives: { names: [] }, sends: [{ resources: ["scope@1"], as: "A" }] },
      { receives: { nack: "a scope needs a key" }, reports: [{ nacked: "A" }] },
      { publishes: { srds: [{ is: "scope@2", keyless: true }] }, sends: [{ resources: ["scope@2"] }] },
    ],
  },
  {
    id: "S-VAL-03/serving",
    level: "own",
    also: ["B-VAL-04", "E33"],
    says: "serves a resource that breaks the constraints of its schema, byte by byte",
    variant: "delta",
    type: "srds",
    steps: [
      { publishes: { srds: [{ is: "scope@1", keyless: true }] } },
      { receives: {}, sends: [{ resources: ["scope@1"] }] },
    ],
  },
];
