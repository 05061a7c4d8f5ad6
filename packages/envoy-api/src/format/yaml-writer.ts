import type { JsonValue } from "@bufbuild/protobuf";

/** Keys that need no quotes: Envoy's reader and others take some words for booleans. */
const PLAIN_KEY = /^[a-z][A-Za-z0-9_]*$/;
const WORDS_WITH_A_MEANING: ReadonlySet<string> = new Set([
  "y",
  "n",
  "yes",
  "no",
  "on",
  "off",
  "true",
  "false",
  "null",
]);

/**
 * Formats a JSON value as block YAML that every reader parses to the same value: text is always in double quotes,
 * because Envoy takes an unquoted `on`, `yes` or `1e3` for something else. Lines are indented by `indent` spaces and
 * end with a line break.
 */
function formatYamlValue(value: JsonValue, indent: number): string {
  if (typeof value !== "object" || value === null) return `${" ".repeat(indent)}${JSON.stringify(value)}\n`;
  return Array.isArray(value) ? formatItems(value, indent) : formatFields(Object.entries(value), indent);
}

function formatFields(entries: readonly (readonly [string, JsonValue])[], indent: number): string {
  const margin = " ".repeat(indent);
  if (entries.length === 0) return `${margin}{}\n`;
  return entries.map(([key, value]) => `${margin}${formatKey(key)}:${formatBehind(value, indent)}`).join("");
}

function formatItems(items: readonly JsonValue[], indent: number): string {
  if (items.length === 0) return `${" ".repeat(indent)}[]\n`;
  return items.map((item) => formatYamlItem(item, indent)).join("");
}

/** Formats a value as one list item whose dash is indented by `indent` spaces. */
export function formatYamlItem(item: JsonValue, indent: number): string {
  const below = formatYamlValue(item, indent + 2);
  return `${" ".repeat(indent)}- ${below.slice(indent + 2)}`;
}

function formatBehind(value: JsonValue, indent: number): string {
  if (typeof value !== "object" || value === null) return ` ${JSON.stringify(value)}\n`;
  const isEmpty = Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
  if (isEmpty) return ` ${formatYamlValue(value, 0)}`;
  return `\n${formatYamlValue(value, Array.isArray(value) ? indent : indent + 2)}`;
}

function formatKey(key: string): string {
  return PLAIN_KEY.test(key) && !WORDS_WITH_A_MEANING.has(key) ? key : JSON.stringify(key);
}
