import type { AbsenceReason } from "@xdskit/protocol/internal";
import type { XdsClientError } from "../error.ts";
import type { XdsResource } from "../resource/xds-resource.ts";

/** An event of a watch. `key` is the name it concerns; for a variant with constraints, the name with them. */
export type Change<Json = unknown> =
  /** A resource that this watch had not reported. */
  | { readonly kind: "added"; readonly key: string; readonly resource: XdsResource<Json> }
  /** A new version of a reported resource; never for equal content (C-CLI-03). */
  | { readonly kind: "changed"; readonly key: string; readonly resource: XdsResource<Json> }
  /**
   * The resource does not exist, or not any more, and `reason` says how that is known. `held` is the version that stays
   * in force, if any.
   */
  | {
      readonly kind: "does-not-exist";
      readonly key: string;
      readonly reason: AbsenceReason;
      readonly held: XdsResource<Json> | undefined;
    }
  /**
   * An error; known resources stay in force (C-CLI-04), and the watch continues. Without a key it concerns the whole
   * watch, such as an unreachable server: then it is reported once per outage, and once for each other reason.
   */
  | {
      readonly kind: "error";
      readonly key: string | undefined;
      readonly error: XdsClientError;
      readonly held: XdsResource<Json> | undefined;
    }
  /**
   * Servers that were unreachable (`UNREACHABLE`, `TYPE_UNSUPPORTED`) respond again, so the resources in force are
   * theirs again or will be after the next changes. A slow reader may get this without the error before it.
   */
  | { readonly kind: "recovered" }
  /**
   * The first response was accepted; the changes before it are the whole state. Reported once, for a wildcard or a
   * collection. In delta a large response may come in parts and nothing marks the last: this follows the first.
   */
  | { readonly kind: "synced" };
