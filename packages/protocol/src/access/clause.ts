import type { Node } from "../node/node.ts";
import { NODE_LAYER } from "../node/node-mapping.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import {
  type AccessClaim,
  type AccessGrant,
  type AskedResource,
  type NameFilter,
  type RuleMiss,
  wholeGrant,
} from "./access-policy.ts";
import { type CompiledRule, isAmong } from "./compile-rule.ts";
import { bindingsOf, isVerified } from "./identity-pattern.ts";
import { type Bindings, matchesPattern, type Pattern } from "./pattern.ts";

/** A rule that a client meets, with what its identity captured. */
export interface Clause {
  readonly rule: CompiledRule;
  readonly bindings: Bindings;
  /** The client met it by its certificate, or the rule names the loopback interface. */
  readonly isVerified: boolean;
}

/** What a grant asks of the types. */
export interface TypeFacts {
  readonly isSecret: (type: TypeUrl) => boolean;
  /** The type in the other version of the API: a rule about one is about both. */
  readonly twinOf?: (type: TypeUrl) => TypeUrl | undefined;
}

/** Whether a rule is about the client as a whole, not about some resources. */
export function isAboutAll({ layers, types, names }: CompiledRule): boolean {
  return layers === undefined && types === undefined && names === undefined;
}

/** The ways in which a client meets a rule. */
export function clausesOf(rule: CompiledRule, { entryPoint, peer, node }: AccessClaim): readonly Clause[] {
  if (!rule.entryPoints.includes(entryPoint)) return [];
  return rule.identities.flatMap((identity) =>
    bindingsOf(identity, peer)
      .filter((bindings) => unclaimable(rule, bindings, node) === undefined)
      .map((bindings) => ({ rule, bindings, isVerified: isVerified(identity) })),
  );
}

/** The first field of a rule that does not fit a claim; undefined: the claim meets the rule. */
export function missOf(rule: CompiledRule, { entryPoint, peer, node }: AccessClaim): RuleMiss["field"] | undefined {
  if (!rule.entryPoints.includes(entryPoint)) return "entryPoints";
  const ways = rule.identities.flatMap((identity) => bindingsOf(identity, peer));
  const misses = ways.map((bindings) => unclaimable(rule, bindings, node));
  return misses.length === 0 ? "identities" : misses.includes(undefined) ? undefined : misses[0];
}

/**
 * The field that forbids a client to claim a node. A caller that speaks for no node yet might claim any: a rule that
 * allows does concern it, and one that denies does not where it names nodes.
 */
function unclaimable(
  { nodes, clusters, metadata, isDeny }: CompiledRule,
  bindings: Bindings,
  node: Node | undefined,
): "nodes" | "clusters" | "metadata" | undefined {
  if (node === undefined) {
    const isAboutSome = nodes !== undefined || clusters !== undefined || metadata.length > 0;
    return isDeny && isAboutSome ? "nodes" : undefined;
  }
  if (!isAnyMet(nodes, bindings, node.id)) return "nodes";
  if (!isAnyMet(clusters, bindings, node.cluster)) return "clusters";
  const fits = metadata.every(([key, pattern]) => {
    const value = Object.hasOwn(node.metadata, key) ? node.metadata[key] : undefined;
    return typeof value === "string" && matchesPattern(pattern, bindings, value);
  });
  return fits ? undefined : "metadata";
}

function isAnyMet(patterns: readonly Pattern[] | undefined, bindings: Bindings, text: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matchesPattern(pattern, bindings, text));
}

/** What the clauses that a client meets give it. */
export class ClauseGrant implements AccessGrant {
  readonly key: string;
  readonly isWhole: boolean;
  readonly #allows: readonly Clause[];
  readonly #denies: readonly Clause[];
  readonly #types: TypeFacts;

  constructor(allows: readonly Clause[], denies: readonly Clause[], types: TypeFacts) {
    this.#allows = allows;
    this.#denies = denies;
    this.#types = types;
    this.isWhole = denies.length === 0 && allows.some((clause) => clause.isVerified && isAboutAll(clause.rule));
    this.key = this.isWhole ? wholeGrant.key : JSON.stringify([...allows, ...denies].map(keyOf));
  }

  visible(layer: string, type: TypeUrl): NameFilter {
    const allows = this.#allows.filter((clause) => this.#missOf(clause, layer, type) === undefined);
    const denies = this.#denies.filter((clause) => this.#missOf(clause, layer, type) === undefined);
    if (allows.length === 0 || denies.some(({ rule }) => rule.names === undefined)) return "none";
    if (denies.length === 0 && allows.some(({ rule }) => rule.names === undefined)) return "all";
    const fits = (name: string) => (clause: Clause) => isAnyMet(clause.rule.names, clause.bindings, name);
    return (name) => allows.some(fits(name)) && !denies.some(fits(name));
  }

  /** The clause that decides about a resource of a layer; undefined: none allows it. */
  decider(layer: string, asked: AskedResource): Clause | undefined {
    const concerns = (clause: Clause): boolean => this.missOf(clause, layer, asked) === undefined;
    // Without a name, a rule that denies some names does not deny the type.
    const denies = (clause: Clause): boolean =>
      concerns(clause) && (asked.name !== undefined || clause.rule.names === undefined);
    return this.#denies.find(denies) ?? this.#allows.find(concerns);
  }

  /** The first field of a clause that does not fit a resource; undefined: the clause is about it. */
  missOf(clause: Clause, layer: string, { type, name }: AskedResource): "layers" | "types" | "names" | undefined {
    const miss = this.#missOf(clause, layer, type);
    if (miss !== undefined || name === undefined) return miss;
    return isAnyMet(clause.rule.names, clause.bindings, name) ? undefined : "names";
  }

  /** Without a verified identity, only what an allowing rule names includes layers of single nodes and Secrets. */
  #missOf(
    { rule, bindings, isVerified: isSure }: Clause,
    layer: string,
    type: TypeUrl,
  ): "layers" | "types" | undefined {
    const takesAll = isSure || rule.isDeny;
    const { layers, types } = rule;
    if (!(layers === undefined ? takesAll || !layer.startsWith(NODE_LAYER) : isAnyMet(layers, bindings, layer)))
      return "layers";
    const isOfTypes = types === undefined ? takesAll || !this.#types.isSecret(type) : this.#isAmong(type, types);
    return isOfTypes ? undefined : "types";
  }

  #isAmong(type: TypeUrl, types: readonly string[]): boolean {
    const twin = this.#types.twinOf?.(type);
    return isAmong(type, types) || (twin !== undefined && isAmong(twin, types));
  }
}

function keyOf({ rule, bindings, isVerified: isSure }: Clause): unknown {
  return [rule.key, isSure, [...bindings]];
}
