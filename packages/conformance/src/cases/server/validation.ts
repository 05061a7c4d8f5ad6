import type { Case } from "../../case.ts";

/** VAL: the protocol does not depend on valid content. */
export const validationCases: readonly Case[] = [
  {
    id: "S-VAL-03/serving",
    also: ["B-VAL-04", "E33"],
    says: "serves a resource that breaks the constraints of its schema, byte by byte",
    variant: "sotw",
    type: "srds",
    steps: [
      // A scope without a key, which the schema requires.
      { publishes: { srds: ["scope@1"] } },
      { receives: { names: [] }, sends: [{ resources: ["scope@1"], as: "A" }] },
      { receives: { nack: "a scope needs a key" }, reports: [{ nacked: "A" }] },
      { publishes: { srds: ["scope@2"] }, sends: [{ resources: ["scope@2"] }] },
    ],
  },
  {
    id: "S-VAL-03/serving",
    also: ["B-VAL-04", "E33"],
    says: "serves a resource that breaks the constraints of its schema, byte by byte",
    variant: "delta",
    type: "srds",
    steps: [{ publishes: { srds: ["scope@1"] } }, { receives: {}, sends: [{ resources: ["scope@1"] }] }],
  },
];
