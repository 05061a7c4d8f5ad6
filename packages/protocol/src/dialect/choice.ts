import type { Node } from "../node/node.ts";
import type { Peer } from "../node/node-mapping.ts";
import type { DialectOverrides } from "./dialect.ts";
import type { Edition } from "./switches.ts";

/** An operator's edition and dialect overrides, for the whole server, one listener, or some clients. */
export interface Choice {
  /** The edition. It decides every switch that neither an override nor the row of a known client sets. */
  readonly edition?: Edition | undefined;
  readonly dialect?: DialectOverrides | undefined;
}

/** A choice with a display name, such as `clients[0]`. */
export interface NamedChoice extends Choice {
  readonly name: string;
}

/** The choices that apply to one stream. */
export interface Choices {
  readonly server?: Choice | undefined;
  readonly listener?: NamedChoice | undefined;
  readonly clients?: NamedChoice | undefined;
}

/**
 * Returns the choice for a client from its node, its peer and the name of its listener; undefined if there is none.
 * Called once per stream, with the first request. Must be pure, like a node mapping.
 */
export type ClientChoice = (node: Node, peer: Peer, listener: string | undefined) => NamedChoice | undefined;
