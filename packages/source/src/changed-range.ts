/** What lies between the equal beginnings and the equal ends of two lists. */
export interface ChangedRange {
  readonly begin: number;
  /** The end in the list before. */
  readonly endBefore: number;
  readonly end: number;
}

/** Compares two lists by identity, from their beginnings and ends. */
export function changedRange<T>(before: readonly T[], after: readonly T[]): ChangedRange {
  const shorter = Math.min(before.length, after.length);
  let begin = 0;
  while (begin < shorter && before[begin] === after[begin]) begin++;
  let endBefore = before.length;
  let end = after.length;
  while (endBefore > begin && end > begin && before[endBefore - 1] === after[end - 1]) {
    endBefore--;
    end--;
  }
  return { begin, endBefore, end };
}
