import { functionAccess } from "./access-function.ts";
import type { AccessPolicy } from "./access-policy.ts";
import type { AccessFunction, AccessRules } from "./access-rules.ts";
import type { TypeFacts } from "./clause.ts";
import { compileAccess } from "./compile-access.ts";
import type { AccessProblem } from "./compile-rule.ts";
import { defaultAccess } from "./default-access.ts";
import type { StatusReaders } from "./usual-access.ts";

export interface AccessSettings extends TypeFacts {
  /** Undefined: safe defaults. */
  readonly access: AccessRules | AccessFunction | undefined;
  /** Allows everything where there are no rules. */
  readonly insecure: boolean;
  readonly statusReaders: StatusReaders;
  /** Is told what an access function threw. */
  readonly onThrown: (error: unknown) => void;
}

/** Creates the policy of a server, or says what is wrong with its rules. */
export function createAccess(settings: AccessSettings): AccessPolicy | { readonly problems: readonly AccessProblem[] } {
  const { access } = settings;
  if (access === undefined) return defaultAccess(settings);
  return typeof access === "function" ? functionAccess(access, settings) : compileAccess(access, settings);
}
