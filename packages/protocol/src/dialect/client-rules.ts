import { type NodeMatch, nodeMatches } from "../node/node-match.ts";
import type { Choice, ClientChoice } from "./choice.ts";

/** A choice for the clients whose node matches. */
export interface ClientRule extends Choice {
  readonly match: NodeMatch;
  /**
   * Display name.
   *
   * @default `clients[<index>]`
   */
  readonly name?: string;
}

/** Returns a choice function in which the first matching rule wins. */
export function createClientChoice(rules: readonly ClientRule[]): ClientChoice {
  const named = rules.map(({ match, name, edition, dialect }, index) => ({
    match,
    choice: { name: name ?? `clients[${index}]`, edition, dialect },
  }));
  return (node) => named.find(({ match }) => nodeMatches(match, node))?.choice;
}
