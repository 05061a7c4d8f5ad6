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
 * The two texts by which everything behind the door knows what has more than a name: a variant, which is its name with its
 * constraints, and a located term, which is a name with parameters. No name that came over the wire can be one of them: each
 * holds half of a pair of surrogates, which is no UTF-8.
 */
const LONE = "\uD800";
const VARIANT = `${LONE}=`;
const LOCATED = `${LONE}?`;

/** The name of all resources, with parameters: the variants that fit them. */
const WILDCARD = "*";

/** A name and its constraints (S-LOC-03). */
export interface VariantName {
  readonly name: string;
  readonly constraints: Constraints;
}

/** What a client asks for: a name, and the parameters that it has (B-LOC-09). */
export interface Located {
  readonly name: string;
  readonly parameters: Parameters;
}

/** The name in a key of a variant or in a located term; any other text is its own. */
export function plainName(text: string): string {
  const at = text.indexOf(LONE);
  if (at === -1) return text;
  const mark = text[at + 1];
  return mark === "=" || mark === "?" ? text.slice(0, at) : beforeMark(text, at);
}

/** A character of a name may begin alike. */
function beforeMark(text: string, from: number): string {
  for (let at = text.indexOf(LONE, from + 1); at !== -1; at = text.indexOf(LONE, at + 1)) {
    const mark = text[at + 1];
    if (mark === "=" || mark === "?") return text.slice(0, at);
  }
  return text;
}

/** The key of a variant. The constraints have to be canonical. */
export function variantKey({ name, constraints }: VariantName): string {
  return `${name}${VARIANT}${formatConstraints(constraints)}`;
}

/** What a resource is known by that came with constraints: the key of its variant; its name if they hold of everybody. */
export function constrainedName(name: string, constraints: Constraints): string {
  const canonical = canonicalConstraints(constraints);
  const isForAll = canonical.kind === "all" && canonical.of.length === 0;
  return isForAll ? name : variantKey({ name, constraints: canonical });
}

/** What a key is the key of; undefined for any other text. */
export function parseVariantKey(text: string): VariantName | undefined {
  const at = text.indexOf(VARIANT);
  const constraints = at === -1 ? undefined : parseConstraints(text.slice(at + VARIANT.length));
  return constraints && { name: text.slice(0, at), constraints };
}

/** A name with parameters, as a term of a subscription. */
export function locatedTerm(name: string, parameters: Parameters = noParameters): string {
  return `${name}${LOCATED}${JSON.stringify(sortedEntries(parameters))}`;
}

/** Whether a term has parameters, be it none. */
export function isLocated(term: string): boolean {
  return term.includes(LOCATED);
}

/** What a located term asks for; undefined for any other term. */
export function parseLocated(term: string): Located | undefined {
  const at = term.indexOf(LOCATED);
  if (at === -1) return undefined;
  const entries = JSON.parse(term.slice(at + LOCATED.length)) as readonly (readonly [string, string])[];
  return { name: term.slice(0, at), parameters: new Map(entries) };
}

/** Whether a term asks for everything that fits its parameters. */
export function isLocatedWildcard(term: string): boolean {
  return term.startsWith(`${WILDCARD}${LOCATED}`);
}

/** Whether a name could be mistaken for a key or a term. */
export function isReservedName(name: string): boolean {
  return name.includes(VARIANT) || name.includes(LOCATED);
}

/** A name, key or term for people: `web`, `web [env = "prod"]`, `web {env=prod}`. */
export function shownName(text: string): string {
  if (!text.includes(LONE)) return text;
  const variant = parseVariantKey(text);
  if (variant !== undefined) return `${variant.name} [${describeConstraints(variant.constraints)}]`;
  const located = parseLocated(text);
  if (located === undefined) return text;
  const pairs = [...located.parameters].map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? located.name : `${located.name} {${pairs.join(", ")}}`;
}
