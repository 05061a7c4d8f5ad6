/** Writes JSON data as YAML, for reading. */
export function toYaml(value: unknown): string {
  return `${block(value, "")}\n`.replace(/^\n/, "");
}

function block(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return " []";
    return value.map((item) => `\n${indent}-${nested(item, `${indent}  `)}`).join("");
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return " {}";
    return entries.map(([key, item]) => `\n${indent}${scalar(key)}:${block(item, `${indent}  `)}`).join("");
  }
  return ` ${scalar(value)}`;
}

/** An item of a list begins on the line of its dash. */
function nested(item: unknown, indent: string): string {
  const text = block(item, indent);
  return text.startsWith("\n") ? ` ${text.slice(1 + indent.length)}` : text;
}

const plain = /^[A-Za-z_/][\w./@-]*$/;
const word = /^(true|false|null|yes|no|on|off|y|n|~)$/i;

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  return plain.test(value) && !word.test(value) ? value : JSON.stringify(value);
}
