import type { KindOf } from "./changes.ts";

/** A connected node before and after a change. */
export interface JudgedNode {
  readonly id: string;
  /** Its layers, top-most first. */
  readonly before: readonly string[];
  /** Undefined: it would be refused. */
  readonly after: readonly string[] | undefined;
  /** Whether access rules would take away something that it has, so that its connection would end. */
  readonly isCutOff: boolean;
}

/** What fuses need to know beside the change and the state. */
export interface FuseContext {
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly kindOf: KindOf;
  /** Who is connected. */
  readonly nodes: Iterable<JudgedNode>;
  /** The layers of further views, such as those of groups of which no node is connected. */
  readonly views?: Iterable<readonly string[]>;
}
