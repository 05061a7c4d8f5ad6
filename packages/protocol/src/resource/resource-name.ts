import { messageNameOf, type TypeUrl } from "./type-url.ts";
import { isReservedName } from "./variant-name.ts";

/**
 * The decoded parts of an xdstp name (B-XTP-01). Processing directives never go on the wire and are omitted (C-XTP-03).
 */
export interface ResourceName {
  readonly authority: string;
  /** The full message name. */
  readonly type: string;
  /** The path after the type; for a glob collection without the `*`. */
  readonly id: readonly string[];
  /** Whether it is a glob collection: every resource directly below the path (B-XTP-05). */
  readonly isGlob: boolean;
  readonly contextParams: ReadonlyMap<string, string>;
}

/** Stands for all resources of a type, in a subscription or a reference. */
export const WILDCARD = "*";

const SCHEME = "xdstp:";
const FORM = /^xdstp:\/\/([^/?#]*)\/([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?(?:#.*)?$/s;

/** Parses `xdstp://[authority]/type/id?params#directives`; undefined for any other text. */
export function parseResourceName(text: string): ResourceName | undefined {
  if (!text.startsWith(SCHEME)) return undefined;
  const [, authority, type, path, query] = FORM.exec(text) ?? [];
  if (authority === undefined || type === undefined) return undefined;
  const segments = path === undefined ? [] : path.split("/");
  const isGlob = segments.at(-1) === "*";
  try {
    const contextParams = parseParams(query ?? "");
    if (contextParams === undefined) return undefined;
    return {
      authority: decodeURIComponent(authority),
      type: decodeURIComponent(type),
      id: (isGlob ? segments.slice(0, -1) : segments).map(decodeURIComponent),
      isGlob,
      contextParams,
    };
  } catch {
    return undefined; // percent signs without two digits behind them, or digits that are no UTF-8
  }
}

/** Formats the canonical name: sorted parameters and no needless percent-encoding (RFC 3986, B-XTP-02). */
export function formatResourceName({ authority, type, id, isGlob, contextParams }: ResourceName): string {
  // An encoded star is a literal part of the name.
  const segments = id.map((segment) => (segment === "*" ? "%2A" : encode(segment)));
  const path = [encode(type), ...segments, ...(isGlob ? ["*"] : [])].join("/");
  const params = [...contextParams]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${encodeParam(key)}=${encodeParam(value)}`);
  return `${SCHEME}//${encode(authority)}/${path}${params.length === 0 ? "" : `?${params.join("&")}`}`;
}

/**
 * Returns the canonical form, in which equal names are equal texts (B-XTP-02). Any text but an xdstp name stays as it
 * is.
 */
export function canonicalName(text: string): string {
  if (!text.startsWith(SCHEME) || isReservedName(text)) return text;
  const name = parseResourceName(text);
  return name === undefined ? text : formatResourceName(name);
}

/** Returns the canonical form of each name; the same array if there is no xdstp name in it. */
export function canonicalNames(texts: readonly string[]): readonly string[] {
  return texts.some((text) => text.startsWith(SCHEME)) ? texts.map(canonicalName) : texts;
}

/** Whether a canonical name is a glob collection or a prefix glob. */
export function isGlob(canonical: string): boolean {
  if (isPrefixGlob(canonical)) return true;
  if (!canonical.startsWith(SCHEME)) return false;
  return canonical.slice(0, startOfQuery(canonical)).endsWith("/*") && !isReservedName(canonical);
}

/** Returns the full message name in an xdstp name; undefined for any other text. */
export function typeInName(name: string): string | undefined {
  return parseResourceName(name)?.type;
}

/** Whether a name, canonical or not, is a glob collection. */
export function isGlobName(name: string): boolean {
  return isGlob(canonicalName(name));
}

/** Whether a name is a list collection of a resource type; a list collection has its own message type (B-XTP-07). */
export function isListName(name: string, type: TypeUrl): boolean {
  return typeInName(name) === `${messageNameOf(type)}Collection`;
}

/** Returns the glob collection that a resource belongs to: its directory with its parameters (S-XTP-06). */
export function globOf(canonical: string): string | undefined {
  if (!canonical.startsWith(SCHEME) || isGlob(canonical) || isReservedName(canonical)) return undefined;
  const query = startOfQuery(canonical);
  const path = canonical.slice(0, query);
  const type = path.indexOf("/", SCHEME.length + 2);
  const last = path.lastIndexOf("/");
  return last > type ? `${path.slice(0, last)}/*${canonical.slice(query)}` : undefined;
}

/** Marks a prefix glob among terms; a character that cannot be typed or printed. */
const PREFIX_GLOB = "\u0000";

/**
 * Returns the terms that a client subscribes to with these names: `foo/*` stands for every name that begins with `foo/`
 * where prefix globs are enabled, and is a plain name elsewhere (S-XTP-13).
 */
export function termsOf(texts: readonly string[], hasPrefixGlobs: boolean): readonly string[] {
  const canonical = canonicalNames(texts);
  const isOne = (name: string): boolean => name.endsWith("/*") && !name.startsWith(SCHEME);
  return hasPrefixGlobs && canonical.some(isOne)
    ? canonical.map((name) => (isOne(name) ? `${PREFIX_GLOB}${name}` : name))
    : canonical;
}

/** Returns a term as the client sent it. */
export function nameOfTerm(term: string): string {
  return isPrefixGlob(term) ? term.slice(PREFIX_GLOB.length) : term;
}

/** Whether a term is a prefix glob. */
export function isPrefixGlob(term: string): boolean {
  return term.startsWith(PREFIX_GLOB);
}

/** Whether a glob or prefix glob covers a name. */
export function isWithin(glob: string, name: string): boolean {
  return isPrefixGlob(glob) ? name.startsWith(glob.slice(PREFIX_GLOB.length, -1)) : globOf(name) === glob;
}

/**
 * Whether one of these terms is a prefix glob that covers the name. Names without a slash, the common case, cost
 * nothing.
 */
export function isUnderPrefix(terms: { has(term: string): boolean }, name: string): boolean {
  let at = name.indexOf("/");
  if (at === -1 || name.startsWith(SCHEME)) return false;
  for (; at !== -1; at = name.indexOf("/", at + 1)) {
    if (terms.has(`${PREFIX_GLOB}${name.slice(0, at)}/*`)) return true;
  }
  return false;
}

function startOfQuery(text: string): number {
  const at = text.indexOf("?");
  return at === -1 ? text.length : at;
}

/** Undefined if a parameter occurs twice. */
function parseParams(query: string): ReadonlyMap<string, string> | undefined {
  const params = new Map<string, string>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const key = decodeURIComponent(equals === -1 ? pair : pair.slice(0, equals));
    if (params.has(key)) return undefined;
    params.set(key, equals === -1 ? "" : decodeURIComponent(pair.slice(equals + 1)));
  }
  return params;
}

// Characters that encodeURIComponent escapes although a segment, or a parameter, may hold them as they are.
const NEEDLESS_IN_SEGMENT = /%(?:24|26|2B|2C|3A|3B|3D|40)/g;
const NEEDLESS_IN_PARAM = /%(?:24|2B|2C|2F|3A|3B|3F|40)/g;

function encode(segment: string): string {
  return encodeURIComponent(segment).replace(NEEDLESS_IN_SEGMENT, decodeURIComponent);
}

function encodeParam(text: string): string {
  return encodeURIComponent(text).replace(NEEDLESS_IN_PARAM, decodeURIComponent);
}
