import { fileURLToPath } from "node:url";
import { type Proof, proofsIn, provesFor, type Side } from "../../src/requirement/proofs.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** The proofs in every test file of the repository that count for a side. */
export async function readProofs(side: Side): Promise<readonly Proof[]> {
  const reader = new URL("../../../../tools/test-files.mjs", import.meta.url).href;
  const { readTestFiles } = (await import(reader)) as {
    readonly readTestFiles: (root: string) => readonly (readonly [path: string, text: string])[];
  };
  return readTestFiles(root).flatMap(([test, text]) => (provesFor(side, test) ? proofsIn(test, text) : []));
}
