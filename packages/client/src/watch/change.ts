import type { AbsenceReason } from "@xdskit/protocol";
import type { XdsClientError } from "../error.ts";
import type { XdsResource } from "../resource/xds-resource.ts";

/** What a watch tells. `key` is the name of what it is about; of a variant with constraints, its name with them. */
export type Change<Json = unknown> =
  /** There is one, which this watch had not told of. */
  | { readonly kind: "added"; readonly key: string; readonly resource: XdsResource<Json> }
  /** There is another one than was told; never for equal content (C-CLI-03). */
  | { readonly kind: "changed"; readonly key: string; readonly resource: XdsResource<Json> }
  /** There is none (any more), and why that is known. `held` is what goes on being in force all the same, if anything is. */
  | {
      readonly kind: "does-not-exist";
      readonly key: string;
      readonly reason: AbsenceReason;
      readonly held: XdsResource<Json> | undefined;
    }
  /**
   * Something is wrong, and what was known stays in force (C-CLI-04). The watch goes on. Without a key where it concerns everything
   * that is watched, such as a server that cannot be reached: then it is told once of an outage, and once for each other reason.
   */
  | {
      readonly kind: "error";
      readonly key: string | undefined;
      readonly error: XdsClientError;
      readonly held: XdsResource<Json> | undefined;
    }
  /**
   * The servers that could not be reached (`UNREACHABLE`, `TYPE_UNSUPPORTED`) are asked again with success: what is in force is theirs again, or will be as soon as it
   * was told. Whoever reads slowly may be told this without the error before it.
   */
  | { readonly kind: "recovered" }
  /**
   * The first answer was taken: all before it is what there is. Told once, where everything or a collection is watched. In delta a large answer may
   * come in parts, and nothing tells the last one: then it is told after the first.
   */
  | { readonly kind: "synced" };
