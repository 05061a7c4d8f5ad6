import type { ClientStep } from "../../client-case.ts";

/** The program watches names, and the first request of the first stream asks for them. */
export function firstRequest(...names: readonly string[]): ClientStep {
  return { watches: names, opens: ["main"], asks: [{ names, node: "n1" }] };
}

/** The same in delta. */
export function firstSubscription(...names: readonly string[]): ClientStep {
  return { watches: names, opens: ["main"], asks: [{ subscribe: names, node: "n1" }] };
}
