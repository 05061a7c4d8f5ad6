import type { AccessPolicy } from "../../access/access-policy.ts";
import type { ClientChoice } from "../../dialect/choice.ts";
import type { DialectOverrides } from "../../dialect/dialect.ts";
import type { Edition } from "../../dialect/switches.ts";
import type { NodeMapping } from "../../node/node-mapping.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Digest } from "../../resource/version.ts";
import type { StructConverter } from "./conversion.ts";
import type { AccountLimits, PollerLimits, StreamLimits } from "./stream-limits.ts";

/** Options of a `ServerMachine`. */
export interface ServerMachineOptions extends StreamLimits, AccountLimits, PollerLimits {
  /**
   * A table with fewer edits in a transaction is not prepared, but edited when that takes effect.
   * @default 2_000
   */
  readonly editedAtOnce?: number;
  /**
   * So many clients are given other layers in the event that changes the node mapping, the access rules or what layers
   * there are; the rest with the flushes that follow.
   * @default 50
   */
  readonly placedAtOnce?: number;
  readonly digest: Digest;
  /** Traits of a type; undefined for a type without a description. */
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
  readonly nodeMapping: NodeMapping;
  /**
   * What clients may have.
   *
   * @default everything
   */
  readonly access?: AccessPolicy;
  /** The edition for unknown clients without an edition of their own. */
  readonly edition?: Edition;
  /** Dialect overrides for every stream. */
  readonly dialect?: DialectOverrides;
  /**
   * Overrides for single clients.
   *
   * @default none
   */
  readonly clients?: ClientChoice;
  /**
   * Journal lines kept per layer and type for streams that lag behind. A stream that needs older ones ends with
   * UNAVAILABLE.
   *
   * @default 1,000,000
   */
  readonly maxJournalLines?: number;
  /**
   * Bytes of replaced Clusters kept in those journal lines.
   *
   * @default 256 MiB
   */
  readonly maxJournalBytes?: number;
  /**
   * How many resources of a reconnecting client are compared, or of a new one found, in one flush of its stream.
   *
   * @default 5,000
   */
  readonly maxComparedPerTurn?: number;
  /** Converts typed extensions to structs for clients that accept nothing else (S-MSC-04); called once per resource. */
  readonly convertForStructs?: StructConverter;
  /** Whether the host performs `remember` effects and gives their records to the next server in `history-restored`. */
  readonly remembers?: boolean;
}
