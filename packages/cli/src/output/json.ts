/** Formats a value as indented JSON. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Formats a value as one line of JSON. */
export function formatJsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
