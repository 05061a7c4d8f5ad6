import { contentDigest } from "@xdskit/envoy-api";

/** A short digest of a value: the same for equal values, whatever the order of fields, in every process and release. */
export function shortDigest(value: unknown, characters: number): string {
  return contentDigest([canonicalText(value)])
    .toString(36)
    .slice(0, characters);
}

/** The same text for equal values, whatever the order of fields. */
export function canonicalText(value: unknown): string {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("base64")}`;
  if (value instanceof Map) return canonicalText([...value].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalText(field)}`).join(",")}}`;
}
