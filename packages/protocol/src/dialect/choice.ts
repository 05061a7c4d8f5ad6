import type { Node } from "../node/node.ts";
import type { Peer } from "../node/placement.ts";
import type { DialectOverrides } from "./dialect.ts";
import type { Edition } from "./switches.ts";

/** What an operator chose: for a whole server, a listener, or some clients. */
export interface Choice {
  /** The edition for whatever nobody switched and no row of a known client says. */
  readonly edition?: Edition | undefined;
  readonly dialect?: DialectOverrides | undefined;
}

/** A choice, and what people call the place where it was made. */
export interface NamedChoice extends Choice {
  readonly name: string;
}

/** The choices that hold for one stream. */
export interface Choices {
  readonly server?: Choice | undefined;
  readonly listener?: NamedChoice | undefined;
  readonly clients?: NamedChoice | undefined;
}

/**
 * What is chosen for a client, by its node, its peer and the name of the listener it came to; undefined: nothing. Asked once
 * for each stream, with its first request. A pure function, as a placement is.
 */
export type ClientChoice = (node: Node, peer: Peer, listener: string | undefined) => NamedChoice | undefined;
