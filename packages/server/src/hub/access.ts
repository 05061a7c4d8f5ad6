import type { AccessFunction, AccessRules, TypeUrl } from "@xdskit/protocol";
import {
  type AccessPolicy,
  createAccess as createPolicy,
  type StatusReaders,
  type TypeTraits,
  typeKindTable,
} from "@xdskit/protocol/internal";
import { optionsError } from "../error.ts";

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

/** Creates what decides which clients may have what. Throws an `XdsError` (OPTIONS_INVALID) that names every mistake. */
export function createAccess({ traits, ...settings }: AccessOptions): AccessPolicy {
  const policy = createPolicy({
    ...settings,
    isSecret: (type) => typeKindTable[traits(type)?.kind ?? "opaque"].isSecret,
    twinOf: (type) => traits(type)?.twin,
  });
  if (!("problems" in policy)) return policy;
  const problems = policy.problems.map(({ path, message }) => ({ path: ["access", ...path].join("."), message }));
  throw optionsError(problems);
}
