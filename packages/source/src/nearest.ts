/**
 * The candidate that a misspelt word probably means: the one with the fewest typing mistakes, at most a third of its
 * length. Undefined if none is that close.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = simplified(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = typingDistance(wanted, simplified(candidate));
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** `maxStreams`, `max_streams` and `max-streams` are the same word. */
function simplified(word: string): string {
  return word.replace(/[-_]/g, "").toLowerCase();
}

/** The number of letters to insert, delete, replace or swap with their neighbour. */
function typingDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
