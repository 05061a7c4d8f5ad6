import type { Resource } from "@xdskit/protocol";
import type { Entry } from "@xdskit/protocol/internal";
import type { AffectedNode } from "./affected-nodes.ts";
import type { Judgement } from "./judgement.ts";

/** The entries of resources that a plan has without their content. */
export type PlannedEntries = Iterable<readonly [Resource, Entry]>;

/** What a publish would do. */
export interface PublishPlan extends Judgement {
  /** The number upon which it is planned. */
  readonly head: number;
  /** The connected nodes that would get anything else than they have. */
  readonly nodes: { readonly connected: number; readonly affected: readonly AffectedNode[] };
}
