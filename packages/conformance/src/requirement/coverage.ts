import type { Case } from "../case.ts";
import type { ClientCase } from "../client-case.ts";
import { editionRows } from "./editions.ts";
import { diagrams, openPoints, type Point, traps } from "./further.ts";
import type { Proof } from "./proofs.ts";
import type { Requirement } from "./requirement.ts";

/** What says which ids it proves: a case of the server or of the client. */
type Claim = Pick<Case | ClientCase, "id" | "also">;

/** What proves one id. */
export interface Coverage<C extends Claim = Case> {
  readonly id: string;
  readonly says: string;
  /** Why nothing has to prove it yet. */
  readonly later: string | undefined;
  /** Why there is nothing for this side to prove. */
  readonly elsewhere: string | undefined;
  readonly cases: readonly C[];
  readonly proofs: readonly Proof[];
}

/** What a server has to show beside its requirements. */
const serverPoints: readonly Point[] = [...diagrams, ...openPoints, ...traps, ...editionRows];

/** Every requirement and every other point (for servers unless told otherwise) with what proves it, in their order. */
export function coverageOf<C extends Claim>(
  requirements: readonly Requirement[],
  cases: readonly C[],
  proofs: readonly Proof[],
  points: readonly Point[] = serverPoints,
): readonly Coverage<C>[] {
  const others = points.map((point) => ({ elsewhere: undefined, ...point, later: undefined }));
  const rules = requirements.map((requirement) => ({ later: undefined, ...requirement, elsewhere: undefined }));
  return [...rules, ...others].map(({ id, says, later, elsewhere }) => ({
    id,
    says,
    later,
    elsewhere,
    cases: cases.filter((each) => idsOf(each).includes(id)),
    proofs: proofs.filter((proof) => proof.id === id),
  }));
}

/** Nothing proves it, though something should. */
export function isMissing({ later, elsewhere, cases, proofs }: Coverage<Claim>): boolean {
  return later === undefined && elsewhere === undefined && cases.length === 0 && proofs.length === 0;
}

/** Everything that a case says it proves. */
export function idsOf({ id, also = [] }: Claim): readonly string[] {
  return [id.split("/")[0] ?? id, ...also];
}
