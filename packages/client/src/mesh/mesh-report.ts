import type { SourceId, TypeUrl } from "@xdskit/protocol";
import type { MeshReport as MachineReport } from "@xdskit/protocol/internal";

/** An event of a mesh, for logs. */
export type MeshReport =
  | MachineReport
  /**
   * A server sent a Listener or Cluster with the name of a static one in the bootstrap. As in Envoy, the static one
   * wins: the server's version is neither used nor followed. Reported for each such resource.
   */
  | { readonly kind: "overruled"; readonly source: SourceId; readonly type: TypeUrl; readonly name: string };
