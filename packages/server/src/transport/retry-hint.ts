/** The shortest and the longest time after which a client that was refused may come again, in milliseconds. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 3_000;

/** Milliseconds after which a client that was refused may come again; at random, so that not all come at once. */
export function retryHintMs(): number {
  return SHORTEST_MS + Math.floor(Math.random() * (LONGEST_MS - SHORTEST_MS + 1));
}
