/** The middle one; of an even number the lower of the two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}

/** A figure with two digits, or whole from 100 on. */
export function format(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(2);
}
