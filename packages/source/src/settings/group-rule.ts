import type { NodeMatch } from "@xdskit/protocol";

/** A line of the `groups` in `xdskit.yaml`. */
export interface GroupRule {
  readonly name: string;
  readonly match: NodeMatch;
}
