import type { ClientStep } from "../../client-case.ts";

/** The program watches names; the first SotW request of the first stream subscribes to them. */
export function firstRequest(...names: readonly string[]): ClientStep {
  return { watches: names, opens: ["main"], asks: [{ names, node: "n1" }] };
}

/** The program watches names; the first delta request of the first stream subscribes to them. */
export function firstSubscription(...names: readonly string[]): ClientStep {
  return { watches: names, opens: ["main"], asks: [{ subscribe: names, node: "n1" }] };
}
