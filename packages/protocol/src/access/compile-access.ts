import {
  type AccessClaim,
  type AccessGrant,
  type AccessPolicy,
  type AccessRefusal,
  type AccessVerdict,
  type AskedResource,
  isVisible,
  type RuleMiss,
  roleReasons,
  verdictOf,
  wholeGrant,
} from "./access-policy.ts";
import type { AccessRules } from "./access-rules.ts";
import { type Clause, ClauseGrant, clausesOf, isAboutAll, missOf, type TypeFacts } from "./clause.ts";
import { type AccessProblem, type CompiledRule, compileRule } from "./compile-rule.ts";
import { isOpenUnlessNamed, refusedStatus, type StatusReaders, usualAccess } from "./usual-access.ts";

export interface CompileAccessOptions extends TypeFacts {
  /** With rules, only `off` and not `off` differ: the rules say who sees client status. */
  readonly statusReaders?: StatusReaders;
}

/** Compiles rules into a policy, or says what is wrong with them. */
export function compileAccess(
  rules: AccessRules,
  options: CompileAccessOptions,
): AccessPolicy | { readonly problems: readonly AccessProblem[] } {
  const problems: AccessProblem[] = [];
  const compiled = rules.rules.map((rule, index) => compileRule(rule, index, problems));
  if (problems.length > 0) return { problems };
  return new RuleAccess(rules, compiled, options);
}

const TRUSTED = {
  allowed: "clients on the loopback interface may have everything (access.loopback)",
  hidden: "",
};
const UNNAMED = { allowed: "it is open to everybody, because no rule names it", hidden: "" };

class RuleAccess implements AccessPolicy {
  readonly rules: AccessRules;
  readonly #rules: readonly CompiledRule[];
  readonly #trustsLoopback: boolean;
  readonly #options: CompileAccessOptions;

  constructor(rules: AccessRules, compiled: readonly CompiledRule[], options: CompileAccessOptions) {
    const { loopback = "trusted" } = rules;
    this.rules = rules;
    this.#rules = compiled;
    this.#trustsLoopback = loopback === "trusted";
    this.#options = options;
  }

  grant(claim: AccessClaim): AccessGrant | AccessRefusal {
    const before = this.#grantBeforeRules(claim);
    if (before !== undefined) return before;
    const { allows, denies, forbids } = this.#clauses(claim);
    if (forbids !== undefined) return { denied: `${forbids.rule.label} denies it` };
    if (allows.length === 0) return this.#grantWithoutRule(claim);
    if (givesNoResources(claim)) return wholeGrant;
    return new ClauseGrant(allows, denies, this.#options);
  }

  explain(claim: AccessClaim, layers: readonly string[], asked?: AskedResource): AccessVerdict {
    const before = this.#grantBeforeRules(claim);
    if (before !== undefined) return verdictOf(before, layers, asked, TRUSTED);
    const { allows, denies, forbids } = this.#clauses(claim);
    if (forbids !== undefined) return byRule(forbids.rule, false);
    const [first] = allows;
    if (first === undefined) return this.#explainWithoutRule(claim, layers, asked);
    if (asked === undefined || givesNoResources(claim)) return byRule(first.rule, true);
    const grant = new ClauseGrant(allows, denies, this.#options);
    const shown = layers.find((layer) => isVisible(grant, layer, asked));
    const deciders = (shown === undefined ? layers : [shown]).map((layer) => grant.decider(layer, asked));
    const decider = deciders.find((clause) => clause !== undefined);
    if (decider !== undefined) return byRule(decider.rule, shown !== undefined);
    const [layer = ""] = layers;
    const misses = allows.flatMap((clause): readonly RuleMiss[] => {
      const field = grant.missOf(clause, layer, asked);
      return field === undefined ? [] : [{ rule: clause.rule.index, field }];
    });
    const reason = layers.length === 0 ? "the node has no layers" : "no rule allows it";
    return { isAllowed: false, reason, misses };
  }

  /** What no rule changes: loopback where it is trusted, and client status where it is off. */
  #grantBeforeRules(claim: AccessClaim): AccessGrant | AccessRefusal | undefined {
    const { entryPoint, peer, role } = claim;
    const { statusReaders = "loopback" } = this.#options;
    if (entryPoint === "csds" && statusReaders === "off") return refusedStatus("off");
    if (!this.#trustsLoopback || !peer.isLoopback) return undefined;
    // With TLS on the admin API, its certificates decide on loopback too.
    if ((entryPoint === "admin" || entryPoint === "admin-change") && role === undefined) return undefined;
    return usualAccess(claim, statusReaders) ?? wholeGrant;
  }

  #clauses(claim: AccessClaim): {
    readonly allows: readonly Clause[];
    readonly denies: readonly Clause[];
    /** A clause that refuses the client as a whole. */
    readonly forbids: Clause | undefined;
  } {
    const clauses = this.#rules.flatMap((rule) => clausesOf(rule, claim));
    const denies = clauses.filter(({ rule }) => rule.isDeny);
    return {
      allows: clauses.filter(({ rule }) => !rule.isDeny),
      denies,
      forbids: denies.find(({ rule }) => isAboutAll(rule)),
    };
  }

  #grantWithoutRule(claim: AccessClaim): AccessGrant | AccessRefusal {
    const { entryPoint } = claim;
    const isNamed = this.#rules.some(({ isDeny, entryPoints }) => !isDeny && entryPoints.includes(entryPoint));
    const usual = usualAccess(claim, "off");
    const isOpen =
      entryPoint === "admin" || entryPoint === "admin-change" || (isOpenUnlessNamed(entryPoint) && !isNamed);
    if (usual !== undefined && isOpen) return usual;
    return { denied: `no rule allows it: ${describe(claim)}` };
  }

  #explainWithoutRule(claim: AccessClaim, layers: readonly string[], asked: AskedResource | undefined): AccessVerdict {
    const granted = this.#grantWithoutRule(claim);
    if (!("denied" in granted)) {
      return verdictOf(granted, layers, asked, roleReasons(claim) ?? UNNAMED);
    }
    const misses = this.#rules.flatMap((rule): readonly RuleMiss[] => {
      const field = rule.isDeny ? undefined : missOf(rule, claim);
      return field === undefined ? [] : [{ rule: rule.index, field }];
    });
    return { isAllowed: false, reason: "no rule allows it", misses };
  }
}

/** Where nobody speaks for a node and no resource is given, to be let in is all there is. */
function givesNoResources(claim: AccessClaim): boolean {
  return claim.entryPoint !== "csds" && usualAccess(claim, "off") !== undefined;
}

function byRule({ index, label, isDeny }: CompiledRule, isAllowed: boolean): AccessVerdict {
  return { isAllowed, reason: `${label} ${isDeny ? "denies" : "allows"} it`, rule: index };
}

function describe({ entryPoint, peer: { certificate, address }, node }: AccessClaim): string {
  const names = certificate === undefined ? ["no certificate"] : [...certificate.uris, ...certificate.dnsNames];
  const claimed = node === undefined ? [] : [`node "${node.id}"`, `cluster "${node.cluster}"`];
  return [entryPoint, ...claimed, ...names, address].join(", ");
}
