import type { Node } from "./node.ts";

/** Patterns of which at least one must match; `*` matches any text and `?` any one character. */
export type Patterns = readonly string[];

/** Conditions on a node; all that are given must hold. */
export interface NodeMatch {
  readonly id?: Patterns;
  readonly cluster?: Patterns;
  /** The client's user agent name, such as `envoy` or `gRPC Go`. */
  readonly userAgentName?: Patterns;
  readonly locality?: { readonly region?: Patterns; readonly zone?: Patterns; readonly subZone?: Patterns };
  /** Patterns for fields of the node's metadata; a list matches if one of its items does. */
  readonly metadata?: MetadataMatch;
}

/** Patterns for a field, or for the fields inside it. */
export interface MetadataMatch {
  readonly [field: string]: Patterns | MetadataMatch;
}

/** Whether a node meets every condition. */
export function nodeMatches(match: NodeMatch, node: Node): boolean {
  return (
    fits(match.id, node.id) &&
    fits(match.cluster, node.cluster) &&
    fits(match.userAgentName, node.userAgentName) &&
    fits(match.locality?.region, node.locality?.region) &&
    fits(match.locality?.zone, node.locality?.zone) &&
    fits(match.locality?.subZone, node.locality?.subZone) &&
    (match.metadata === undefined || metadataFits(match.metadata, node.metadata))
  );
}

/**
 * Whether a text matches a pattern in which `*` is any text, `?` any one character, and the rest literal. Never
 * backtracks beyond the last `*`.
 */
export function globMatches(pattern: string, text: string): boolean {
  let at = 0;
  let inPattern = 0;
  let starAt = -1;
  let resumeAt = 0;
  while (at < text.length) {
    const character = pattern[inPattern];
    if (character === "*") {
      starAt = inPattern++;
      resumeAt = at;
    } else if (character === "?" || character === text[at]) {
      inPattern++;
      at++;
    } else if (starAt !== -1) {
      inPattern = starAt + 1;
      at = ++resumeAt;
    } else return false;
  }
  while (pattern[inPattern] === "*") inPattern++;
  return inPattern === pattern.length;
}

function fits(patterns: Patterns | undefined, text: string | undefined): boolean {
  if (patterns === undefined) return true;
  return text !== undefined && patterns.some((pattern) => globMatches(pattern, text));
}

function metadataFits(match: MetadataMatch, metadata: unknown): boolean {
  if (typeof metadata !== "object" || metadata === null) return false;
  const fields = metadata as Readonly<Record<string, unknown>>;
  return Object.entries(match).every(
    ([field, wanted]) => Object.hasOwn(fields, field) && valueFits(wanted, fields[field]),
  );
}

function valueFits(wanted: Patterns | MetadataMatch, value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => valueFits(wanted, item));
  if (!isPatterns(wanted)) return metadataFits(wanted, value);
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isScalar && fits(wanted, String(value));
}

function isPatterns(wanted: Patterns | MetadataMatch): wanted is Patterns {
  return Array.isArray(wanted);
}
