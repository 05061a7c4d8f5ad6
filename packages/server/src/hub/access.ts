import type { AccessRules, TypeUrl } from "@xdskit/protocol";
import {
  type AccessPolicy,
  compileAccess,
  defaultAccess,
  openAccess,
  type TypeTraits,
  typeKindTable,
} from "@xdskit/protocol/internal";
import type { OptionProblem } from "../error.ts";

export interface AccessOptions {
  /** Undefined: safe defaults. */
  readonly rules: AccessRules | undefined;
  /** Allows everything where there are no rules. */
  readonly insecure: boolean;
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
}

/** Creates what decides which clients may have what, or says what is wrong with the rules. */
export function readAccess({
  rules,
  insecure,
  traits,
}: AccessOptions): AccessPolicy | { readonly problems: readonly OptionProblem[] } {
  const isSecret = (type: TypeUrl): boolean => typeKindTable[traits(type)?.kind ?? "opaque"].isSecret;
  if (rules === undefined) return insecure ? openAccess : defaultAccess({ isSecret });
  const policy = compileAccess(rules, { isSecret, twinOf: (type) => traits(type)?.twin });
  if (!("problems" in policy)) return policy;
  return { problems: policy.problems.map(({ path, message }) => ({ path: ["access", ...path].join("."), message })) };
}
