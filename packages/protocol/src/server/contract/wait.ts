import type { TypeUrl } from "../../resource/type-url.ts";

/** Why something is not sent yet. */
export type Wait =
  /** It names a Cluster that the client was not given yet, or did not accept yet. */
  | { readonly for: "cluster"; readonly name: string }
  /** It sends traffic to a Cluster that it did not use before, and that has no endpoints yet. */
  | { readonly for: "endpoints"; readonly name: string }
  /** It sends traffic to a Cluster that it did not use before, and a secret that this needs is missing. */
  | { readonly for: "secret"; readonly name: string }
  /** The client came back, and may not have asked yet for all that it uses. */
  | { readonly for: "return" }
  /** The client asks for a Cluster that is gone by its name, and has not given it up yet. */
  | { readonly for: "release"; readonly name: string }
  /** Something that may use the Clusters that are gone is unsent, unanswered or refused: resources of that type. */
  | { readonly for: "users"; readonly type: TypeUrl; readonly isRefused: boolean };
