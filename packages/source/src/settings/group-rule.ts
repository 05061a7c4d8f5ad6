import type { NodeMatch } from "@xdskit/protocol";

/** An entry of `groups` in `xdskit.yaml`. */
export interface GroupRule {
  readonly name: string;
  readonly match: NodeMatch;
}
