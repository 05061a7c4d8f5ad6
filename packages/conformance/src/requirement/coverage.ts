import type { Case } from "../case.ts";
import { diagrams, openPoints, traps } from "./further.ts";
import type { Proof } from "./proofs.ts";
import type { Requirement } from "./requirement.ts";

/** What proves one id. */
export interface Coverage {
  readonly id: string;
  readonly says: string;
  /** Why nothing has to prove it yet. */
  readonly later: string | undefined;
  readonly cases: readonly Case[];
  readonly proofs: readonly Proof[];
}

/** Every requirement, diagram, open point and trap with what proves it, in their order. */
export function coverageOf(
  requirements: readonly Requirement[],
  cases: readonly Case[],
  proofs: readonly Proof[],
): readonly Coverage[] {
  const points = [...diagrams, ...openPoints, ...traps].map((point) => ({ ...point, later: undefined }));
  return [...requirements, ...points].map(({ id, says, later }) => ({
    id,
    says,
    later,
    cases: cases.filter((each) => idsOf(each).includes(id)),
    proofs: proofs.filter((proof) => proof.id === id),
  }));
}

/** Nothing proves it, though something should. */
export function isMissing({ later, cases, proofs }: Coverage): boolean {
  return later === undefined && cases.length === 0 && proofs.length === 0;
}

/** Everything that a case says it proves. */
export function idsOf({ id, also = [] }: Case): readonly string[] {
  return [id.split("/")[0] ?? id, ...also];
}
