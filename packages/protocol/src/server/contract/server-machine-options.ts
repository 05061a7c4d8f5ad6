import type { ClientChoice } from "../../dialect/choice.ts";
import type { DialectOverrides } from "../../dialect/dialect.ts";
import type { Edition } from "../../dialect/switches.ts";
import type { NodeMapping } from "../../node/node-mapping.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Digest } from "../../resource/version.ts";
import type { StructConverter } from "./conversion.ts";
import type { StreamLimits } from "./stream-limits.ts";

export interface ServerMachineOptions extends StreamLimits {
  readonly digest: Digest;
  /** What is known about a type; undefined for a type nobody described. */
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
  readonly nodeMapping: NodeMapping;
  /** The edition for clients that nobody knows and for whom no other was chosen. */
  readonly edition?: Edition;
  /** Switched for every stream. */
  readonly dialect?: DialectOverrides;
  /** What is chosen for single clients. Default: nothing. */
  readonly clients?: ClientChoice;
  /** Journal lines kept per layer and type for streams that lag behind; beyond it those streams end with UNAVAILABLE. */
  readonly maxJournalLines?: number;
  /** The same in bytes of the replaced Clusters that those lines keep. */
  readonly maxJournalBytes?: number;
  /** Resources of a client that comes back that are compared in one turn of its stream. Default: 10,000. */
  readonly maxComparedPerTurn?: number;
  /** Makes extensions structs for clients that take nothing else (S-MSC-04); called once for each resource and such clients. */
  readonly convertForStructs?: StructConverter;
  /** `remember` effects are performed: what they say comes back in `history-restored` when a server is started anew. */
  readonly remembers?: boolean;
}
