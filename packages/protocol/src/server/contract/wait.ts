import type { TypeUrl } from "../../resource/type-url.ts";

/** Why a resource or a removal is not sent yet. */
export type Wait =
  /** It names a Cluster that the client was not sent yet, or did not ACK yet. */
  | { readonly for: "cluster"; readonly name: string }
  /**
   * It sends traffic to a Cluster that it did not use before and that has no endpoints yet; or it is a Cluster in use that
   * gets such endpoints under another name.
   */
  | { readonly for: "endpoints"; readonly name: string }
  /** It sends traffic to a Cluster that it did not use before and that needs a missing secret. */
  | { readonly for: "secret"; readonly name: string }
  /** It exists, but its content is not at hand, as that of a Secret after a restart. */
  | { readonly for: "content"; readonly name: string }
  /** The client reconnected, and may not have subscribed yet to everything that it uses. */
  | { readonly for: "return" }
  /** The client subscribes by name to a deleted Cluster, and has not unsubscribed yet. */
  | { readonly for: "release"; readonly name: string }
  /** Resources of this type may use what is deleted, and are not sent, not ACKed yet, or NACKed (`isNacked`). */
  | { readonly for: "users"; readonly type: TypeUrl; readonly isNacked: boolean };
