import type { AccessFunction, AccessRules, TypeUrl } from "@xdskit/protocol";
import {
  type AccessPolicy,
  createAccess,
  formatPath,
  type OptionProblem,
  type StatusReaders,
  type TypeTraits,
  typeKindTable,
} from "@xdskit/protocol/internal";
import { checkAccess } from "./guarded-functions.ts";

export interface AccessOptions {
  /** Undefined: safe defaults. */
  readonly access: AccessRules | AccessFunction | undefined;
  /** Allows everything where there are no rules. */
  readonly insecure: boolean;
  readonly statusReaders: StatusReaders;
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
  /** Is told what an access function threw. */
  readonly onThrown: (error: unknown) => void;
}

/** Creates what decides which clients may have what, or says what is wrong with the rules. */
export function readAccess({
  access,
  traits,
  ...settings
}: AccessOptions): AccessPolicy | { readonly problems: readonly OptionProblem[] } {
  const policy = createAccess({
    ...settings,
    access: typeof access === "function" ? checkAccess(access) : access,
    isSecret: (type) => typeKindTable[traits(type)?.kind ?? "opaque"].isSecret,
    twinOf: (type) => traits(type)?.twin,
  });
  if (!("problems" in policy)) return policy;
  return {
    problems: policy.problems.map((problem) => ({ ...problem, path: formatPath(["access", ...problem.path]) })),
  };
}
