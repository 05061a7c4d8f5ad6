/** How resources of a type answer to terms that are neither their name nor one of their aliases. */
export interface TermRules {
  /** Names and aliases that answer to a term besides itself, the best first. */
  broader(term: string): Iterable<string>;
  /** Whether a name or alias may answer to other terms than itself at all. */
  isBroad(alias: string): boolean;
  /** Whether a broad name or alias is among those that answer to a term. */
  matches(alias: string, term: string): boolean;
  /** Groups of terms that a term belongs to: few, whatever its length. */
  groupsOf(term: string): Iterable<string>;
  /** The smallest group with every term that a broad name or alias answers to. */
  groupOf(alias: string): string;
  /** The collection that a name or term belongs to, as others refer to it. */
  collectionOf(term: string): string | undefined;
}
