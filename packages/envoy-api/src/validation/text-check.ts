import { utf8Length } from "../platform.ts";
import type { FieldProblemCode } from "../problem.ts";
import { isIp, isIpv4, isIpv6 } from "./ip-address.ts";
import {
  type LengthBounds,
  noLength,
  type RuleValues,
  ruleCount,
  ruleList,
  ruleValue,
  type ValueCheck,
} from "./value-check.ts";

const HTTP_HEADER_NAME = 1;
const HTTP_HEADER_VALUE = 2;
// The strict forms follow RFC 7230; the loose one only prevents a header from ending early.
const STRICT_HEADER_NAME = /^:?[0-9a-zA-Z!#$%&'*+.^_|~`-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const STRICT_HEADER_VALUE = /^[^\u0000-\u0008\u000A-\u001F\u007F]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const LOOSE_HEADER = /^[^\u0000\u000A\u000D]*$/;

/** Compiles the rules of strings. */
export function stringChecks(rules: RuleValues): readonly ValueCheck[] {
  const checks = [
    ...lengthChecks(rules, ["len", "minLen", "maxLen"], "character", (value) => [...String(value)].length),
    ...lengthChecks(rules, ["lenBytes", "minBytes", "maxBytes"], "byte", (value) => utf8Length(String(value))),
    ...contentChecks(rules),
    ...wellKnownChecks(rules),
  ];
  if (ruleValue(rules, "ignoreEmpty") !== true) return checks;
  return [
    (value, problems) => {
      if (value !== "") for (const check of checks) check(value, problems);
    },
  ];
}

const MOST_BYTES_OF_CHARACTER = 4;

/** Returns the lengths in bytes at which a text violates no string rule, whatever it holds. */
export function stringBounds(rules: RuleValues): LengthBounds {
  const isMoreThanLength =
    contentChecks(rules).length > 0 || wellKnownChecks(rules).length > 0 || hasAny(rules, ["len", "lenBytes"]);
  if (isMoreThanLength) return noLength;
  const characters = ruleCount(rules, "minLen") ?? 0;
  const bytes = ruleCount(rules, "minBytes") ?? 0;
  return {
    least: Math.max(characters > 1 ? characters * MOST_BYTES_OF_CHARACTER : characters, bytes),
    most: Math.min(
      ruleCount(rules, "maxLen") ?? Number.POSITIVE_INFINITY,
      ruleCount(rules, "maxBytes") ?? Number.POSITIVE_INFINITY,
    ),
  };
}

/** Returns the lengths at which bytes violate no rule, whatever they hold. */
export function bytesBounds(rules: RuleValues): LengthBounds {
  if (hasAny(rules, ["len"])) return noLength;
  return { least: ruleCount(rules, "minLen") ?? 0, most: ruleCount(rules, "maxLen") ?? Number.POSITIVE_INFINITY };
}

function hasAny(rules: RuleValues, names: readonly Rule[]): boolean {
  return names.some((name) => ruleValue(rules, name) !== undefined);
}

/** Compiles the rules of bytes. */
export function bytesChecks(rules: RuleValues): readonly ValueCheck[] {
  return lengthChecks(rules, ["len", "minLen", "maxLen"], "byte", (value) =>
    value instanceof Uint8Array ? value.length : 0,
  );
}

type LengthRules = readonly [exact: Rule, min: Rule, max: Rule];

function lengthChecks(
  rules: RuleValues,
  [exactRule, minRule, maxRule]: LengthRules,
  unit: string,
  lengthOf: (value: unknown) => number,
): readonly ValueCheck[] {
  const exact = ruleCount(rules, exactRule);
  const min = ruleCount(rules, minRule);
  const max = ruleCount(rules, maxRule);
  const checks: ValueCheck[] = [];
  const add = (rule: Rule, expected: string, holds: (length: number) => boolean): void => {
    checks.push((value, problems) => {
      const length = lengthOf(value);
      if (!holds(length)) problems.warning(CODES[rule], `expected ${expected}, got ${count(length, unit)}`);
    });
  };
  if (exact !== undefined) add(exactRule, count(exact, unit), (length) => length === exact);
  if (min !== undefined) add(minRule, `at least ${count(min, unit)}`, (length) => length >= min);
  if (max !== undefined) add(maxRule, `at most ${count(max, unit)}`, (length) => length <= max);
  return checks;
}

/** Formats a number with its unit: "1 item", "2 items". */
export function count(number: number, unit: string): string {
  return number === 1 ? `1 ${unit}` : `${number} ${unit}s`;
}

const CODES = {
  address: "PGV_ADDRESS",
  const: "PGV_CONST",
  contains: "PGV_CONTAINS",
  email: "PGV_EMAIL",
  hostname: "PGV_HOSTNAME",
  in: "PGV_IN",
  ip: "PGV_IP",
  ipv4: "PGV_IPV4",
  ipv6: "PGV_IPV6",
  len: "PGV_LEN",
  lenBytes: "PGV_LEN_BYTES",
  maxBytes: "PGV_MAX_BYTES",
  maxLen: "PGV_MAX_LEN",
  minBytes: "PGV_MIN_BYTES",
  minLen: "PGV_MIN_LEN",
  notContains: "PGV_NOT_CONTAINS",
  notIn: "PGV_NOT_IN",
  pattern: "PGV_PATTERN",
  prefix: "PGV_PREFIX",
  suffix: "PGV_SUFFIX",
  uri: "PGV_URI",
  uriRef: "PGV_URI_REF",
  uuid: "PGV_UUID",
} as const satisfies Record<string, FieldProblemCode>;

type Rule = keyof typeof CODES;

const CONTENT_RULES: readonly (readonly [rule: Rule, words: string, holds: (text: string, rule: string) => boolean])[] =
  [
    ["const", "", (text, rule) => text === rule],
    ["prefix", "text that begins with ", (text, rule) => text.startsWith(rule)],
    ["suffix", "text that ends with ", (text, rule) => text.endsWith(rule)],
    ["contains", "text that contains ", (text, rule) => text.includes(rule)],
    ["notContains", "text without ", (text, rule) => !text.includes(rule)],
  ];

function contentChecks(rules: RuleValues): readonly ValueCheck[] {
  const checks: ValueCheck[] = [];
  const add = (rule: Rule, expected: string, holds: (text: string) => boolean): void => {
    checks.push((value, problems) => {
      if (holds(String(value))) return;
      problems.warning(CODES[rule], `expected ${expected}, got ${problems.describe(value)}`);
    });
  };
  for (const [rule, words, holds] of CONTENT_RULES) {
    const wanted = ruleValue(rules, rule);
    if (typeof wanted === "string") add(rule, `${words}${JSON.stringify(wanted)}`, (text) => holds(text, wanted));
  }
  const allowed = ruleList(rules, "in");
  if (allowed !== undefined) add("in", `one of ${quoteAll(allowed)}`, (text) => allowed.includes(text));
  const forbidden = ruleList(rules, "notIn");
  if (forbidden !== undefined) add("notIn", `none of ${quoteAll(forbidden)}`, (text) => !forbidden.includes(text));
  const pattern = compilePattern(ruleValue(rules, "pattern"));
  if (pattern !== undefined)
    add("pattern", `text that matches ${ruleValue(rules, "pattern")}`, (text) => pattern.test(text));
  return checks;
}

function quoteAll(list: readonly unknown[]): string {
  return list.map((each) => JSON.stringify(each)).join(", ");
}

/** The whole text has to match, as in Envoy. A pattern that JavaScript cannot compile is not checked. */
function compilePattern(pattern: unknown): RegExp | undefined {
  if (typeof pattern !== "string") return undefined;
  try {
    return new RegExp(`^(?:${pattern})$`, "u");
  } catch {
    return undefined; // rules are advice: a descriptor of somebody else's must not stop the reading
  }
}

const LABEL = /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/;
const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

const WELL_KNOWN: Readonly<Partial<Record<Rule, readonly [words: string, holds: (text: string) => boolean]>>> = {
  email: [
    "an e-mail address",
    (text) => /^[^@\s]+@[^@\s]+$/.test(text) && isHostname(text.slice(text.lastIndexOf("@") + 1)),
  ],
  hostname: ["a host name", isHostname],
  ip: ["an IP address", isIp],
  ipv4: ["an IPv4 address", isIpv4],
  ipv6: ["an IPv6 address", isIpv6],
  uri: ["a URI", (text) => URL.canParse(text)],
  uriRef: ["a URI or a path", (text) => URL.canParse(text, "http://any")],
  address: ["a host name or an IP address", (text) => isIp(text) || isHostname(text)],
  uuid: ["a UUID", (text) => UUID.test(text)],
};

function isHostname(text: string): boolean {
  return (
    text.length <= 253 &&
    text
      .replace(/\.$/, "")
      .split(".")
      .every((label) => LABEL.test(label))
  );
}

function wellKnownChecks(rules: RuleValues): readonly ValueCheck[] {
  const wellKnown = rules["wellKnown"] as { case: Rule | "wellKnownRegex" | undefined; value?: unknown } | undefined;
  if (wellKnown?.case === undefined) return [];
  if (wellKnown.case === "wellKnownRegex") return headerChecks(wellKnown.value, rules["strict"] !== false);
  const known = WELL_KNOWN[wellKnown.case];
  if (known === undefined || wellKnown.value !== true) return [];
  const [words, holds] = known;
  const code = CODES[wellKnown.case];
  return [
    (value, problems) => {
      if (!holds(String(value))) problems.warning(code, `expected ${words}, got ${problems.describe(value)}`);
    },
  ];
}

function headerChecks(regex: unknown, isStrict: boolean): readonly ValueCheck[] {
  if (regex !== HTTP_HEADER_NAME && regex !== HTTP_HEADER_VALUE) return [];
  const isName = regex === HTTP_HEADER_NAME;
  const strictPattern = isName ? STRICT_HEADER_NAME : STRICT_HEADER_VALUE;
  const pattern = isStrict ? strictPattern : LOOSE_HEADER;
  const expected = isName ? "the name of an HTTP header" : "the value of an HTTP header";
  return [
    (value, problems) => {
      if (!pattern.test(String(value)))
        problems.warning("PGV_WELL_KNOWN_REGEX", `expected ${expected}, got ${problems.describe(value)}`);
    },
  ];
}
