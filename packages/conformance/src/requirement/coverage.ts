import type { Case } from "../case.ts";
import type { ClientCase } from "../client-case.ts";
import { editionRows } from "./editions.ts";
import { diagrams, openPoints, type Point, traps } from "./further.ts";
import type { Proof } from "./proofs.ts";
import type { Requirement } from "./requirement.ts";

/** A case of the server or client, by the ids that it proves. */
type Claim = Pick<Case | ClientCase, "id" | "also">;

/** The proofs of one id. */
export interface Coverage<C extends Claim = Case> {
  readonly id: string;
  readonly says: string;
  /** Why it needs no proof yet. */
  readonly later: string | undefined;
  /** Why it does not concern this side. */
  readonly elsewhere: string | undefined;
  readonly cases: readonly C[];
  readonly proofs: readonly Proof[];
}

/** Points beside the requirements that cases of the server must cover. */
const serverPoints: readonly Point[] = [...diagrams, ...openPoints, ...traps, ...editionRows];

/** The proofs of every requirement and point, in their order. Points default to those of servers. */
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

/** Whether a proof is required and missing. */
export function isMissing({ later, elsewhere, cases, proofs }: Coverage<Claim>): boolean {
  return later === undefined && elsewhere === undefined && cases.length === 0 && proofs.length === 0;
}

/** Every id that a case proves. */
export function idsOf({ id, also = [] }: Claim): readonly string[] {
  return [id.split("/")[0] ?? id, ...also];
}
