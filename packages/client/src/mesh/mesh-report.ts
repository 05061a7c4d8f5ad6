import type { MeshReport as MachineReport, SourceId, TypeUrl } from "@xdskit/protocol";

/** What happened in a mesh, for logs. */
export type MeshReport =
  | MachineReport
  /**
   * A server gave another Listener or Cluster than the one of that name in the bootstrap. That one stands, as with an Envoy, and of the server's nothing is
   * used or followed. Told for each that comes.
   */
  | { readonly kind: "overruled"; readonly source: SourceId; readonly type: TypeUrl; readonly name: string };
