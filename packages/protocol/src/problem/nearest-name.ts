const LONGEST_COMPARED = 200;

/** Returns the candidate with the fewest edits, if it is close enough to be meant; the first of equals. */
export function nearestName(text: string, candidates: Iterable<string>): string | undefined {
  if (text.length === 0 || text.length > LONGEST_COMPARED) return undefined;
  const folded = fold(text);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(folded.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(folded, fold(candidate), bestDistance);
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

/** Returns the edit distance of two strings, or `limit` if it is at least that. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(previous, j - 1) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      const distance = Math.min(replaced, at(previous, j) + 1, at(row, j - 1) + 1);
      row.push(distance);
      smallest = Math.min(smallest, distance);
    }
    if (smallest >= limit) return limit;
    previous = row;
  }
  return Math.min(at(previous, b.length), limit);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}
