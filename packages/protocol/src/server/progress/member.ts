import type { Node } from "../../node/node.ts";
import type { Standing, StragglerType } from "../contract/progress.ts";

/** A stream or a poller, as far as its progress goes. */
export interface ProgressMember {
  readonly node: Node;
  /** How far it is with a revision. */
  standing(revision: number): Standing;
  /** What keeps it from a revision; empty: it has it. */
  behind(revision: number): readonly StragglerType[];
}
