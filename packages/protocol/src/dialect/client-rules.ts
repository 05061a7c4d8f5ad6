import { type NodeMatch, nodeMatches } from "../node/node-match.ts";
import type { Choice, ClientChoice } from "./choice.ts";

/** What is chosen for the clients that are as a rule says. */
export interface ClientRule extends Choice {
  readonly match: NodeMatch;
  /** What people call it. Default: `clients[0]`, by its place. */
  readonly name?: string;
}

/** Of several rules the first that fits a node counts, and no other. */
export function createClientChoice(rules: readonly ClientRule[]): ClientChoice {
  const named = rules.map(({ match, name, edition, dialect }, index) => ({
    match,
    choice: { name: name ?? `clients[${index}]`, edition, dialect },
  }));
  return (node) => named.find(({ match }) => nodeMatches(match, node))?.choice;
}
