import type { Node } from "../node/node.ts";
import { NODE_LAYER } from "../node/node-mapping.ts";
import { messageNameOf, parseTypeUrl, type TypeUrl } from "../resource/type-url.ts";
import {
  type AccessClaim,
  type AccessGrant,
  type AccessPolicy,
  type AccessRefusal,
  type NameFilter,
  wholeGrant,
} from "./access-policy.ts";
import { type AccessRule, type AccessRules, type EntryPoint, entryPoints } from "./access-rules.ts";
import { bindingsOf, capturesOf, type IdentityPattern, isVerified, parseIdentity } from "./identity-pattern.ts";
import { type Bindings, capturesIn, matchesPattern, type Pattern, parsePattern } from "./pattern.ts";

/** A mistake in access rules. */
export interface AccessProblem {
  /** Such as `rules`, 2, `nodes`, 0. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface CompileAccessOptions {
  readonly isSecret: (type: TypeUrl) => boolean;
  /** The type in the other version of the API: a rule about one is about both. */
  readonly twinOf?: (type: TypeUrl) => TypeUrl | undefined;
}

interface CompiledRule {
  /** The rule as text: equal rules of two policies give equal grants. */
  readonly key: string;
  readonly label: string;
  readonly identities: readonly IdentityPattern[];
  readonly entryPoints: readonly EntryPoint[];
  readonly nodes: readonly Pattern[] | undefined;
  readonly clusters: readonly Pattern[] | undefined;
  readonly metadata: readonly (readonly [string, Pattern])[];
  readonly layers: readonly Pattern[] | undefined;
  readonly types: readonly string[] | undefined;
  readonly names: readonly Pattern[] | undefined;
  readonly isDeny: boolean;
}

/** A rule that a client meets, with what its identity captured. */
interface Clause {
  readonly rule: CompiledRule;
  readonly bindings: Bindings;
  /** The client met it by its certificate, or the rule names the loopback interface. */
  readonly isVerified: boolean;
}

/** Compiles rules into a policy, or says what is wrong with them. */
export function compileAccess(
  { loopback = "trusted", rules }: AccessRules,
  options: CompileAccessOptions,
): AccessPolicy | { readonly problems: readonly AccessProblem[] } {
  const problems: AccessProblem[] = [];
  const compiled = rules.map((rule, index) => compileRule(rule, index, problems));
  if (problems.length > 0) return { problems };
  return {
    grant(claim) {
      if (loopback === "trusted" && claim.peer.isLoopback) return wholeGrant;
      return grantBy(compiled, claim, options);
    },
  };
}

function grantBy(
  rules: readonly CompiledRule[],
  claim: AccessClaim,
  options: CompileAccessOptions,
): AccessGrant | AccessRefusal {
  const clauses = rules.flatMap((rule) => clausesOf(rule, claim));
  const forbidden = clauses.find(({ rule }) => rule.isDeny && isAboutAll(rule));
  if (forbidden !== undefined) return { denied: `${forbidden.rule.label} denies it` };
  const allows = clauses.filter(({ rule }) => !rule.isDeny);
  if (allows.length === 0) return { denied: `no rule allows it: ${describe(claim)}` };
  const denies = clauses.filter(({ rule }) => rule.isDeny);
  return new ClauseGrant(allows, denies, options);
}

function describe({ entryPoint, peer: { certificate, address }, node }: AccessClaim): string {
  const names = certificate === undefined ? ["no certificate"] : [...certificate.uris, ...certificate.dnsNames];
  return `${entryPoint}, node "${node.id}", cluster "${node.cluster}", ${names.join(", ")}, ${address}`;
}

/** Whether a rule is about the client as a whole, not about some resources. */
function isAboutAll({ layers, types, names }: CompiledRule): boolean {
  return layers === undefined && types === undefined && names === undefined;
}

/** The ways in which a client meets a rule. */
function clausesOf(rule: CompiledRule, { entryPoint, peer, node }: AccessClaim): readonly Clause[] {
  if (!rule.entryPoints.includes(entryPoint)) return [];
  return rule.identities.flatMap((identity) =>
    bindingsOf(identity, peer)
      .filter((bindings) => mayClaim(rule, bindings, node))
      .map((bindings) => ({ rule, bindings, isVerified: isVerified(identity) })),
  );
}

function mayClaim({ nodes, clusters, metadata }: CompiledRule, bindings: Bindings, node: Node): boolean {
  return (
    isAnyMet(nodes, bindings, node.id) &&
    isAnyMet(clusters, bindings, node.cluster) &&
    metadata.every(([key, pattern]) => {
      const value = Object.hasOwn(node.metadata, key) ? node.metadata[key] : undefined;
      return typeof value === "string" && matchesPattern(pattern, bindings, value);
    })
  );
}

function isAnyMet(patterns: readonly Pattern[] | undefined, bindings: Bindings, text: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matchesPattern(pattern, bindings, text));
}

/** What the clauses that a client meets give it. */
class ClauseGrant implements AccessGrant {
  readonly key: string;
  readonly isWhole: boolean;
  readonly #allows: readonly Clause[];
  readonly #denies: readonly Clause[];
  readonly #options: CompileAccessOptions;

  constructor(allows: readonly Clause[], denies: readonly Clause[], options: CompileAccessOptions) {
    this.#allows = allows;
    this.#denies = denies;
    this.#options = options;
    this.isWhole = denies.length === 0 && allows.some((clause) => clause.isVerified && isAboutAll(clause.rule));
    this.key = this.isWhole ? wholeGrant.key : JSON.stringify([...allows, ...denies].map(keyOf));
  }

  visible(layer: string, type: TypeUrl): NameFilter {
    const allows = this.#allows.filter((clause) => this.#allowsLayer(clause, layer) && this.#allowsType(clause, type));
    const denies = this.#denies.filter(
      ({ rule, bindings }) => isAnyMet(rule.layers, bindings, layer) && this.#isAmong(type, rule.types),
    );
    if (allows.length === 0 || denies.some(({ rule }) => rule.names === undefined)) return "none";
    if (denies.length === 0 && allows.some(({ rule }) => rule.names === undefined)) return "all";
    const fits = (name: string) => (clause: Clause) => isAnyMet(clause.rule.names, clause.bindings, name);
    return (name) => allows.some(fits(name)) && !denies.some(fits(name));
  }

  #allowsLayer({ rule: { layers }, bindings, isVerified: isSure }: Clause, layer: string): boolean {
    return layers === undefined ? isSure || !layer.startsWith(NODE_LAYER) : isAnyMet(layers, bindings, layer);
  }

  #allowsType({ rule: { types }, isVerified: isSure }: Clause, type: TypeUrl): boolean {
    return types === undefined ? isSure || !this.#options.isSecret(type) : this.#isAmong(type, types);
  }

  #isAmong(type: TypeUrl, types: readonly string[] | undefined): boolean {
    const twin = this.#options.twinOf?.(type);
    return isAmong(type, types) || (twin !== undefined && isAmong(twin, types));
  }
}

function keyOf({ rule, bindings, isVerified: isSure }: Clause): unknown {
  return [rule.key, isSure, [...bindings]];
}

/** Whether a type is listed, by its message name or the last part of it. */
function isAmong(type: TypeUrl, types: readonly string[] | undefined): boolean {
  const name = messageNameOf(type);
  return types === undefined || types.some((one) => one === "*" || one === name || name.endsWith(`.${one}`));
}

/** Reads the parts of one rule, and collects its mistakes. */
function compileRule(rule: AccessRule, index: number, problems: AccessProblem[]): CompiledRule {
  const add = (where: readonly (string | number)[], message: string): void =>
    void problems.push({ path: ["rules", index, ...where], message });
  for (const key of Object.keys(rule)) {
    // A misspelt "nodes" would allow every node.
    if (!Object.hasOwn(ruleKeys, key)) add([key], `expected one of ${Object.keys(ruleKeys).join(", ")}`);
  }
  if (rule.deny !== undefined && typeof rule.deny !== "boolean") add(["deny"], "expected true or false");
  for (const [at, type] of (rule.types ?? []).entries()) {
    if (type !== "*" && !isTypeName(type))
      add(["types", at], `expected a message name such as "Secret", its type URL or "*", got "${type}"`);
  }
  const identities = rule.identities.flatMap((text, at) => {
    const identity = parseIdentity(text);
    if (!("problem" in identity)) return [identity];
    add(["identities", at], identity.problem);
    return [];
  });
  if (rule.identities.length === 0) add(["identities"], "expected at least one; the rule would match nobody");
  const read = (where: readonly (string | number)[], text: string): readonly Pattern[] => {
    const pattern = parsePattern(text);
    if (pattern === undefined) add(where, "expected {NAME} for each capture");
    const unbound = capturesIn(pattern ?? []).find(
      (name) => !identities.every((one) => capturesOf(one).includes(name)),
    );
    if (unbound !== undefined) add(where, `expected every entry of identities to capture {${unbound}}`);
    return pattern === undefined ? [] : [pattern];
  };
  const readAll = (where: "nodes" | "clusters" | "layers" | "names"): readonly Pattern[] | undefined =>
    rule[where]?.flatMap((text, at) => read([where, at], text));
  for (const [at, point] of (rule.entryPoints ?? []).entries()) {
    if (!entryPoints.includes(point)) add(["entryPoints", at], `expected ${entryPoints.join(", ")}, got "${point}"`);
  }
  return {
    key: JSON.stringify(rule),
    label: rule.name === undefined ? `rule ${index + 1}` : `rule "${rule.name}"`,
    identities,
    entryPoints: rule.entryPoints ?? entryPoints,
    nodes: readAll("nodes"),
    clusters: readAll("clusters"),
    metadata: Object.entries(rule.metadata ?? {}).flatMap(([key, text]) =>
      read(["metadata", key], text).map((pattern) => [key, pattern] as const),
    ),
    layers: readAll("layers"),
    types: rule.types?.map(typeNameOf),
    names: readAll("names"),
    isDeny: rule.deny === true,
  };
}

/** Every key of a rule; a missing one fails to compile. */
const ruleKeys: Readonly<Record<keyof AccessRule, true>> = {
  ...{ name: true, identities: true, entryPoints: true, nodes: true, clusters: true, metadata: true },
  ...{ layers: true, types: true, names: true, deny: true },
};

/** Whether a text may be a type URL, or a message name or its last part: those begin with a capital. */
function isTypeName(text: string): boolean {
  return /^[A-Z]\w*$/.test(typeNameOf(text).split(".").at(-1) ?? "");
}

function typeNameOf(text: string): string {
  const type = parseTypeUrl(text);
  return type === undefined ? text : messageNameOf(type);
}
