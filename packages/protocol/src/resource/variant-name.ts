import {
  type Constraints,
  canonicalConstraints,
  describeConstraints,
  formatConstraints,
  noParameters,
  type Parameters,
  parseConstraints,
  sortedEntries,
} from "./constraints.ts";

/**
 * Two internal text forms: a variant key, which is a name with constraints, and a located term, which is a name with
 * parameters. No name from the wire can have either form, because each contains a lone surrogate, which UTF-8 cannot
 * encode.
 */
const LONE = "\uD800";
const VARIANT = `${LONE}=`;
const LOCATED = `${LONE}?`;

/** With parameters: all variants that match them. */
const WILDCARD = "*";

/** A name with constraints (S-LOC-03). */
export interface VariantName {
  readonly name: string;
  readonly constraints: Constraints;
}

/** A subscribed name with dynamic parameters (B-LOC-09). */
export interface Located {
  readonly name: string;
  readonly parameters: Parameters;
}

/** Returns the name in a variant key or a located term; any other text stays as it is. */
export function plainName(text: string): string {
  const at = text.indexOf(LONE);
  if (at === -1) return text;
  const mark = text[at + 1];
  return mark === "=" || mark === "?" ? text.slice(0, at) : beforeMark(text, at);
}

/** Looks further, because a character of the name may begin with the same surrogate. */
function beforeMark(text: string, from: number): string {
  for (let at = text.indexOf(LONE, from + 1); at !== -1; at = text.indexOf(LONE, at + 1)) {
    const mark = text[at + 1];
    if (mark === "=" || mark === "?") return text.slice(0, at);
  }
  return text;
}

/** Returns the key of a variant. The constraints must be canonical. */
export function variantKey({ name, constraints }: VariantName): string {
  return `${name}${VARIANT}${formatConstraints(constraints)}`;
}

/** Returns the key of a constrained resource, or its plain name if the constraints match every client. */
export function constrainedName(name: string, constraints: Constraints): string {
  const canonical = canonicalConstraints(constraints);
  const isForAll = canonical.kind === "all" && canonical.of.length === 0;
  return isForAll ? name : variantKey({ name, constraints: canonical });
}

/** Parses a variant key; undefined for any other text. */
export function parseVariantKey(text: string): VariantName | undefined {
  const at = text.indexOf(VARIANT);
  const constraints = at === -1 ? undefined : parseConstraints(text.slice(at + VARIANT.length));
  return constraints && { name: text.slice(0, at), constraints };
}

/** Returns a name with parameters as a subscription term. */
export function locatedTerm(name: string, parameters: Parameters = noParameters): string {
  return `${name}${LOCATED}${JSON.stringify(sortedEntries(parameters))}`;
}

/** Whether a term has parameters, possibly empty. */
export function isLocated(term: string): boolean {
  return term.includes(LOCATED);
}

/** Parses a located term; undefined for any other term. */
export function parseLocated(term: string): Located | undefined {
  const at = term.indexOf(LOCATED);
  if (at === -1) return undefined;
  const entries = JSON.parse(term.slice(at + LOCATED.length)) as readonly (readonly [string, string])[];
  return { name: term.slice(0, at), parameters: new Map(entries) };
}

/** Whether a term is a wildcard with parameters. */
export function isLocatedWildcard(term: string): boolean {
  return term.startsWith(`${WILDCARD}${LOCATED}`);
}

/** Whether a name has the form of a variant key or a located term. */
export function isReservedName(name: string): boolean {
  return name.includes(VARIANT) || name.includes(LOCATED);
}

/** Formats a name, key or term for display: `web`, `web [env = "prod"]`, `web {env=prod}`. */
export function shownName(text: string): string {
  if (!text.includes(LONE)) return text;
  const variant = parseVariantKey(text);
  if (variant !== undefined) return `${variant.name} [${describeConstraints(variant.constraints)}]`;
  const located = parseLocated(text);
  if (located === undefined) return text;
  const pairs = [...located.parameters].map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? located.name : `${located.name} {${pairs.join(", ")}}`;
}
