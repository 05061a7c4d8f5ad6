/** How resources of a type match subscribed terms that are neither their name nor an alias. */
export interface TermRules {
  /** Yields the names and aliases that match a term besides the term itself, best match first. */
  broader(term: string): Iterable<string>;
  /** Whether a name or alias can match other terms than itself. */
  isBroad(alias: string): boolean;
  /** Whether a broad name or alias matches a term. */
  matches(alias: string, term: string): boolean;
  /** Yields the groups that a term belongs to; their number does not grow with its length. */
  groupsOf(term: string): Iterable<string>;
  /** Returns the smallest group that holds every term which a broad name or alias matches. */
  groupOf(alias: string): string;
  /** Returns the collection that a name or term belongs to, as references name it. */
  collectionOf(term: string): string | undefined;
  /** Returns the name of the resource that the collection of a name or term belongs to. */
  ownerOf(term: string): string | undefined;
}
