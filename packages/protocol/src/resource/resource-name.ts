import { messageNameOf, type TypeUrl } from "./type-url.ts";
import { isReservedName } from "./variant-name.ts";

/** An xdstp name in its parts, decoded (B-XTP-01). Processing directives never go on the wire and are left out (C-XTP-03). */
export interface ResourceName {
  readonly authority: string;
  /** The full name of the message. */
  readonly type: string;
  /** The path behind the type; of a glob collection without the star. */
  readonly id: readonly string[];
  /** Whether it stands for every resource directly below the path (B-XTP-05). */
  readonly isGlob: boolean;
  readonly contextParams: ReadonlyMap<string, string>;
}

const SCHEME = "xdstp:";
const FORM = /^xdstp:\/\/([^/?#]*)\/([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?(?:#.*)?$/s;

/** Reads `xdstp://[authority]/type/id?params#directives`; undefined for any other text. */
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

/** The one way to write a name: parameters sorted, nothing encoded that need not be (RFC 3986, B-XTP-02). */
export function formatResourceName({ authority, type, id, isGlob, contextParams }: ResourceName): string {
  // A star that was encoded is one of the name's own.
  const segments = id.map((segment) => (segment === "*" ? "%2A" : encode(segment)));
  const path = [encode(type), ...segments, ...(isGlob ? ["*"] : [])].join("/");
  const params = [...contextParams]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${encodeParam(key)}=${encodeParam(value)}`);
  return `${SCHEME}//${encode(authority)}/${path}${params.length === 0 ? "" : `?${params.join("&")}`}`;
}

/** The form in which equal names are equal texts (B-XTP-02). Any other text than an xdstp name is its own. */
export function canonicalName(text: string): string {
  if (!text.startsWith(SCHEME) || isReservedName(text)) return text;
  const name = parseResourceName(text);
  return name === undefined ? text : formatResourceName(name);
}

/** The same list if nothing in it has another form. */
export function canonicalNames(texts: readonly string[]): readonly string[] {
  return texts.some((text) => text.startsWith(SCHEME)) ? texts.map(canonicalName) : texts;
}

/** Whether a term stands for the members of a glob collection, or for every name with a prefix. */
export function isGlob(canonical: string): boolean {
  if (isPrefixGlob(canonical)) return true;
  if (!canonical.startsWith(SCHEME)) return false;
  return canonical.slice(0, startOfQuery(canonical)).endsWith("/*") && !isReservedName(canonical);
}

/** The full name of the message in an xdstp name; undefined for any other text. */
export function typeInName(name: string): string | undefined {
  return parseResourceName(name)?.type;
}

/** Whether a name, in whatever form, is that of a glob collection. */
export function isGlobName(name: string): boolean {
  return isGlob(canonicalName(name));
}

/** Whether a name is that of a list collection of resources of a type, which has a type of its own (B-XTP-07). */
export function isListName(name: string, type: TypeUrl): boolean {
  return typeInName(name) === `${messageNameOf(type)}Collection`;
}

/** The glob collection that a resource of this name is a member of: its directory, with its parameters (S-XTP-06). */
export function globOf(canonical: string): string | undefined {
  if (!canonical.startsWith(SCHEME) || isGlob(canonical) || isReservedName(canonical)) return undefined;
  const query = startOfQuery(canonical);
  const path = canonical.slice(0, query);
  const type = path.indexOf("/", SCHEME.length + 2);
  const last = path.lastIndexOf("/");
  return last > type ? `${path.slice(0, last)}/*${canonical.slice(query)}` : undefined;
}

/** What stands before a name that ends with `/*` where it is more than a name; nothing that can be typed or printed. */
const PREFIX_GLOB = "\u0000";

/**
 * The terms that a client means by names: `foo/*` stands for every name that begins with `foo/` where that was switched on, and
 * is a name like any other elsewhere (S-XTP-13).
 */
export function termsOf(texts: readonly string[], hasPrefixGlobs: boolean): readonly string[] {
  const canonical = canonicalNames(texts);
  const isOne = (name: string): boolean => name.endsWith("/*") && !name.startsWith(SCHEME);
  return hasPrefixGlobs && canonical.some(isOne)
    ? canonical.map((name) => (isOne(name) ? `${PREFIX_GLOB}${name}` : name))
    : canonical;
}

/** A term as its client wrote it. */
export function nameOfTerm(term: string): string {
  return isPrefixGlob(term) ? term.slice(PREFIX_GLOB.length) : term;
}

/** Whether a term stands for every name with a prefix. */
export function isPrefixGlob(term: string): boolean {
  return term.startsWith(PREFIX_GLOB);
}

/** Whether a name is among those that a glob stands for. */
export function isWithin(glob: string, name: string): boolean {
  return isPrefixGlob(glob) ? name.startsWith(glob.slice(PREFIX_GLOB.length, -1)) : globOf(name) === glob;
}

/** Whether a name falls under a prefix that is asked for. Nothing is made of names without a slash: most have none. */
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

/** Undefined where a parameter has two values. */
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

// What may stand in a segment, or in a parameter, as it is, and is encoded by encodeURIComponent all the same.
const NEEDLESS_IN_SEGMENT = /%(?:24|26|2B|2C|3A|3B|3D|40)/g;
const NEEDLESS_IN_PARAM = /%(?:24|2B|2C|2F|3A|3B|3F|40)/g;

function encode(segment: string): string {
  return encodeURIComponent(segment).replace(NEEDLESS_IN_SEGMENT, decodeURIComponent);
}

function encodeParam(text: string): string {
  return encodeURIComponent(text).replace(NEEDLESS_IN_PARAM, decodeURIComponent);
}
