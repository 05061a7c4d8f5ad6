/** A value for machines, and for people who look at it all the same. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** A value as one line of a stream of values. */
export function formatJsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
