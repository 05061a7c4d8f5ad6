import type { Case } from "../case.ts";
import { editionRows } from "./editions.ts";
import { diagrams, openPoints, traps } from "./further.ts";
import type { Proof } from "./proofs.ts";
import type { Requirement } from "./requirement.ts";

/** What proves one id. */
export interface Coverage {
  readonly id: string;
  readonly says: string;
  /** Why nothing has to prove it yet. */
  readonly later: string | undefined;
  /** Why there is nothing for a server to prove. */
  readonly elsewhere: string | undefined;
  readonly cases: readonly Case[];
  readonly proofs: readonly Proof[];
}

/** Every requirement, diagram, open point, trap and row on which editions disagree with what proves it, in their order. */
export function coverageOf(
  requirements: readonly Requirement[],
  cases: readonly Case[],
  proofs: readonly Proof[],
): readonly Coverage[] {
  const points = [...diagrams, ...openPoints, ...traps, ...editionRows].map((point) => ({
    ...point,
    later: undefined,
  }));
  const rules = requirements.map((requirement) => ({ ...requirement, elsewhere: undefined }));
  return [...rules, ...points].map(({ id, says, later, elsewhere }) => ({
    id,
    says,
    later,
    elsewhere,
    cases: cases.filter((each) => idsOf(each).includes(id)),
    proofs: proofs.filter((proof) => proof.id === id),
  }));
}

/** Nothing proves it, though something should. */
export function isMissing({ later, elsewhere, cases, proofs }: Coverage): boolean {
  return later === undefined && elsewhere === undefined && cases.length === 0 && proofs.length === 0;
}

/** Everything that a case says it proves. */
export function idsOf({ id, also = [] }: Case): readonly string[] {
  return [id.split("/")[0] ?? id, ...also];
}
