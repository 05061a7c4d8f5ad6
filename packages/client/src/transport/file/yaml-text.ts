import { nestedTooDeep, yamlLimits } from "@xdskit/envoy-api/internal";
import { Composer } from "yaml";
import { yamlTokens } from "../../config/nesting.ts";

/** A JSON value, or why there is none. */
export type YamlValue = { readonly value: unknown } | { readonly problem: string };

/**
 * Reads one document of YAML 1.2 with the core schema: `no` is a string, and large integers become strings to keep
 * their digits. A line `...` ends it. Never throws; problems do not quote the text.
 */
export function readYaml(text: string): YamlValue {
  if (text.length > yamlLimits.characters) {
    return { problem: `expected YAML of at most ${yamlLimits.characters} characters, got ${text.length}; use JSON` };
  }
  const { tokens } = yamlTokens(text);
  if (tokens === undefined) return { problem: nestedTooDeep };
  const settings = { schema: "core", intAsBigInt: true, resolveKnownTags: false, logLevel: "silent" } as const;
  const [document, next] = [...new Composer(settings).compose(tokens, true, text.length)];
  if (document === undefined || (document.contents === null && document.errors.length === 0)) {
    return { problem: "expected YAML, got nothing" };
  }
  const mistake = document.errors[0] ?? document.warnings[0];
  if (mistake !== undefined) return { problem: `${placeOf(text, mistake.pos[0])}: ${wordsOf(mistake.code)}` };
  if (next !== undefined) return { problem: "expected one document of YAML, got several" };
  try {
    const value: unknown = document.toJS({
      maxAliasCount: yamlLimits.aliasedValues,
      reviver: (_, one) => jsonValue(one),
    });
    return { value };
  } catch {
    // The library throws only for aliases, with their names in the text.
    return { problem: "expected aliases of values in the same document, not too many, got others" };
  }
}

/** Converts a number to protobuf JSON: strings for integers that would lose digits, and for non-finite values. */
function jsonValue(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `line ${before.split("\n").length}, column ${before.length - before.lastIndexOf("\n")}`;
}

/** Own error text, because the parser's may quote the text, which may be a secret. */
function wordsOf(code: string): string {
  switch (code) {
    case "DUPLICATE_KEY":
      return "expected each key once in a mapping, got one again";
    case "TAB_AS_INDENT":
      return "expected spaces as indentation, got a tab";
    case "TAG_RESOLVE_FAILED":
      return "expected no tag, or one of the core schema";
    default:
      return `expected YAML that can be read (${code.toLowerCase().replaceAll("_", " ")})`;
  }
}
