/** The median; of an even number of values, the lower one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}

/** Formats a number with two significant digits, or as an integer from 100. */
export function format(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(2);
}
