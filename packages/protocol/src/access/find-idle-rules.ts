import { globMatches } from "../node/node-match.ts";
import { type AccessRule, type AccessRules, type EntryPoint, entryPoints, nodeEntryPoints } from "./access-rules.ts";
import { isRangeWithin } from "./address-range.ts";
import { isVerified, parseIdentity } from "./identity-pattern.ts";
import { type Bindings, bindSegments, literalOf } from "./pattern.ts";

/** A rule that decides nothing. */
export interface IdleRule {
  /** Its place among the rules. */
  readonly index: number;
  readonly message: string;
}

const RESOURCELESS: readonly EntryPoint[] = ["health", "reflection", "metrics", "admin", "admin-change"];

/**
 * Finds rules that can never match, and rules that others make superfluous. Finds no rule that does decide something; of
 * patterns that overlap in a way that is hard to see it says nothing.
 */
export function findIdleRules({ loopback = "trusted", rules }: AccessRules): readonly IdleRule[] {
  return rules.flatMap((rule, index): readonly IdleRule[] => {
    const message = whyNeverMet(rule, loopback) ?? whySuperfluous(rule, index, rules);
    return message === undefined ? [] : [{ index, message }];
  });
}

function whyNeverMet(rule: AccessRule, loopback: "trusted" | "rules"): string | undefined {
  if (loopback === "trusted" && rule.identities.every(isOnLoopback) && !closesByName(rule))
    return "it never decides: clients on loopback may have everything unless access.loopback is rules";
  const { deny, nodes, clusters, metadata, layers, types, names } = rule;
  const isAboutSome = [nodes, clusters, metadata, layers, types, names].some((field) => field !== undefined);
  if (deny === true && isAboutSome && pointsOf(rule).every((point) => RESOURCELESS.includes(point)))
    return `it never denies: at ${pointsOf(rule).join(", ")} there are no nodes and no resources`;
  return undefined;
}

function whySuperfluous(rule: AccessRule, index: number, rules: readonly AccessRule[]): string | undefined {
  for (const [at, other] of rules.entries()) {
    if (at === index || !covers(other, rule)) continue;
    const name = other.name === undefined ? `rule ${at + 1}` : `rule "${other.name}"`;
    if (other.deny === true && rule.deny !== true && !closesByName(rule))
      return `it gives nothing: ${name} denies all that it allows`;
    if (at < index && (other.deny === true) === (rule.deny === true))
      return `it adds nothing: ${name} ${other.deny === true ? "denies" : "allows"} all of it`;
  }
  return undefined;
}

/** Whether a rule matters by naming an entry point, whoever meets it: others are kept out of it, or have another way in. */
function closesByName({ entryPoints: named = [], deny }: AccessRule): boolean {
  return deny !== true && named.some((point) => RESOURCELESS.includes(point));
}

function pointsOf({ entryPoints: named, deny }: AccessRule): readonly EntryPoint[] {
  return named ?? (deny === true ? entryPoints : nodeEntryPoints);
}

function isOnLoopback(identity: string): boolean {
  return identity === "loopback" || /^address:(?:127\.|::1$)/.test(identity);
}

function isSure(identity: string): boolean {
  const parsed = parseIdentity(identity);
  return !("problem" in parsed) && isVerified(parsed);
}

/** Whether a rule is met, and about the resource, wherever another one is. */
function covers(rule: AccessRule, other: AccessRule): boolean {
  if (!pointsOf(other).every((point) => pointsOf(rule).includes(point))) return false;
  return other.identities.every((identity) => {
    // What the same identity captures is the same in both rules.
    if (rule.identities.includes(identity)) return coversFields(rule, other);
    return rule.identities.some((by) => {
      const bindings = bindingsOfFixed(by, identity);
      if (bindings !== undefined) return coversFields(withCaptures(rule, bindings), other);
      return !usesCaptures(rule) && isIdentityCovered(by, identity) && coversFields(rule, other);
    });
  });
}

/** Whether a rule that is met wherever another one is says as much about nodes and resources. */
function coversFields(rule: AccessRule, other: AccessRule): boolean {
  const fields = ["nodes", "clusters", "names"] as const;
  if (!fields.every((field) => areCovered(rule[field], other[field], isPatternCovered))) return false;
  if (!Object.entries(rule.metadata ?? {}).every(([key, pattern]) => other.metadata?.[key] === pattern)) return false;
  if (rule.deny !== true && !rule.identities.every(isSure)) return coversUnsure(rule, other);
  return areCovered(rule.layers, other.layers, isPatternCovered) && areCovered(rule.types, other.types, isTypeCovered);
}

/** To whom is not sure, a rule without types gives no Secrets, and one without layers none of single nodes. */
function coversUnsure(rule: AccessRule, other: AccessRule): boolean {
  const isEqual = !other.identities.some(isSure) && other.deny !== true;
  const layers =
    rule.layers === undefined
      ? isEqual && other.layers === undefined
      : areCovered(rule.layers, other.layers, isPatternCovered);
  const types =
    rule.types === undefined
      ? isEqual && other.types === undefined
      : areCovered(rule.types, other.types, isTypeCovered);
  return layers && types;
}

/** What an identity captures from another one without patterns; undefined if it does not match, or the other has patterns. */
function bindingsOfFixed(by: string, identity: string): Bindings | undefined {
  const [pattern, fixed] = [parseIdentity(by), parseIdentity(identity)];
  if (!("segments" in pattern) || !("segments" in fixed) || pattern.kind !== fixed.kind) return undefined;
  const texts = fixed.segments.flatMap((segment) => literalOf(segment) ?? []);
  return texts.length === fixed.segments.length ? bindSegments(pattern.segments, texts) : undefined;
}

/** A rule for those of whom its identities captured this. */
function withCaptures(rule: AccessRule, bindings: Bindings): AccessRule {
  const bind = (pattern: string): string =>
    pattern.replace(/\{([^}]*)\}/g, (capture, name: string) => bindings.get(name) ?? capture);
  const { nodes, clusters, metadata, layers, names } = rule;
  return {
    ...rule,
    ...(nodes && { nodes: nodes.map(bind) }),
    ...(clusters && { clusters: clusters.map(bind) }),
    ...(metadata && {
      metadata: Object.fromEntries(Object.entries(metadata).map(([key, pattern]) => [key, bind(pattern)])),
    }),
    ...(layers && { layers: layers.map(bind) }),
    ...(names && { names: names.map(bind) }),
  };
}

function usesCaptures({ nodes, clusters, metadata, layers, names }: AccessRule): boolean {
  const patterns = [nodes, clusters, Object.values(metadata ?? {}), layers, names].flatMap((list) => list ?? []);
  return patterns.some((pattern) => pattern.includes("{"));
}

/** Whether each text of a list is covered by one of another; without a list everything is. */
function areCovered(
  list: readonly string[] | undefined,
  others: readonly string[] | undefined,
  isCovered: (by: string, text: string) => boolean,
): boolean {
  if (list === undefined) return true;
  return others?.every((text) => list.some((by) => isCovered(by, text))) === true;
}

/** What stands for any text in a pattern, as a text that only `*` matches. */
function opaque(pattern: string): string {
  return pattern.replace(/\*|\{[^}]*\}/g, "\u0000");
}

function isPatternCovered(by: string, pattern: string): boolean {
  return by === pattern || (!/[?{[\\]/.test(by) && globMatches(by, opaque(pattern)));
}

function isTypeCovered(by: string, type: string): boolean {
  const nameOf = (text: string): string => text.slice(text.lastIndexOf("/") + 1);
  return by === "*" || (type !== "*" && (nameOf(type) === nameOf(by) || nameOf(type).endsWith(`.${nameOf(by)}`)));
}

/** `*` in a URI stays within its segment. */
function isIdentityCovered(by: string, identity: string): boolean {
  if (by === identity || by === "anyone") return true;
  if (by === "certificate") return identity !== "loopback" && isSure(identity);
  const [range, inner] = [parseIdentity(by), parseIdentity(identity)];
  if ("range" in range && "range" in inner) return isRangeWithin(inner.range, range.range);
  if (!by.includes("://") || !identity.includes("://")) return false;
  const [segments, others] = [by.split("/"), identity.split("/")];
  const isCovered = (segment: string, other: string): boolean =>
    segment === other ||
    (!/[?[\\]/.test(segment) && globMatches(segment.replace(/\{[^}]*\}|\*/g, "?*"), opaque(other)));
  return segments.length === others.length && segments.every((segment, at) => isCovered(segment, others[at] ?? ""));
}
