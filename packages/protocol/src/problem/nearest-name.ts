/** Texts longer than this are no misspelt names. */
const LONGEST_COMPARED = 200;

/**
 * Returns the candidate that a misspelt name probably means: the one with the fewest typing mistakes, at most a third of its
 * length; the first of equals.
 */
export function nearestName(text: string, candidates: Iterable<string>): string | undefined {
  if (text.length === 0 || text.length > LONGEST_COMPARED) return undefined;
  const wanted = fold(text);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = typingDistance(wanted, fold(candidate), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Treats `connectTimeout`, `connect-timeout` and `CONNECT_TIMEOUT` as one name. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/** The number of letters to insert, delete, replace or swap with their neighbour; `limit` if it is at least that. */
function typingDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : limit;
      const distance = Math.min(replaced, swapped, at(last, j) + 1, at(row, j - 1) + 1);
      row.push(distance);
      smallest = Math.min(smallest, distance);
    }
    if (smallest >= limit) return limit;
    beforeLast = last;
    last = row;
  }
  return Math.min(at(last, b.length), limit);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}
