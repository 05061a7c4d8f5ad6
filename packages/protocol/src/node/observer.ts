import type { Node } from "./node.ts";

/** The user agent of the command line's clients. */
export const OBSERVER_USER_AGENT = "xds-cli";

/**
 * Whether a client only looks at what a node gets, as `xds get` does, also under the id of a real node: it applies
 * nothing, so that it counts neither as a node that has a revision nor as one that lacks it.
 */
export function isObserver({ userAgentName }: Node): boolean {
  return userAgentName === OBSERVER_USER_AGENT;
}
