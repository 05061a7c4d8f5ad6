import type { Node } from "../../node/node.ts";
import type { Standing, StragglerType } from "../contract/progress.ts";

/** A stream or a poller, as far as its progress goes. */
export interface ProgressMember {
  readonly node: Node;
  /** It has everything up to this revision: below 0, it has nothing yet; infinite, all that concerns it. */
  readonly reached: number;
  /** How far it is with a revision. */
  standing(revision: number): Standing;
  /** What keeps it from a revision; empty: it has it. */
  behind(revision: number): readonly StragglerType[];
}
