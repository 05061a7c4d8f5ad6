import type { BaseProblem, ValuePath } from "../problem/problem.ts";
import { messageNameOf, parseTypeUrl, type TypeUrl } from "../resource/type-url.ts";
import { type AccessRule, type EntryPoint, entryPoints, nodeEntryPoints } from "./access-rules.ts";
import { capturesOf, type IdentityPattern, parseIdentity } from "./identity-pattern.ts";
import { capturesIn, type Pattern, parsePattern } from "./pattern.ts";

/** A mistake in access rules. */
export interface AccessProblem extends BaseProblem {
  /** Such as `rules`, 2, `nodes`, 0. */
  readonly path: ValuePath;
}

/** A rule with its patterns parsed. */
export interface CompiledRule {
  /** Its place among the rules. */
  readonly index: number;
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

/** Whether a type is listed, by its message name or the last part of it. */
export function isAmong(type: TypeUrl, types: readonly string[] | undefined): boolean {
  const name = messageNameOf(type);
  return types === undefined || types.some((one) => one === "*" || one === name || name.endsWith(`.${one}`));
}

/** Reads the parts of one rule, and collects its mistakes. */
export function compileRule(rule: AccessRule, index: number, problems: AccessProblem[]): CompiledRule {
  const add = (where: ValuePath, message: string): void =>
    void problems.push({ severity: "error", path: ["rules", index, ...where], message });
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
  const read = (where: ValuePath, text: string): readonly Pattern[] => {
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
    index,
    key: JSON.stringify(rule),
    label: rule.name === undefined ? `rule ${index + 1}` : `rule "${rule.name}"`,
    identities,
    entryPoints: rule.entryPoints ?? (rule.deny === true ? entryPoints : nodeEntryPoints),
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
