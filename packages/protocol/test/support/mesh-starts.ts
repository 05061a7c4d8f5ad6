/** Meshes as they begin, and the resources that most of them come to hold. */
import type { HeldResource } from "@xdskit/protocol/internal";
import { held, MeshPlay, need, type PlayOptions, ROOT } from "./mesh-play.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "./resources.ts";

/** One of all Clusters and Listeners. */
export function proxy(options: PlayOptions = {}): MeshPlay {
  return new MeshPlay(options).start(ROOT.clusters, ROOT.listeners);
}

/** One of the Listener `l`, as a client of gRPC has it. */
export function named(options: PlayOptions = {}): MeshPlay {
  const root = { root: 1, source: "ads", type: LISTENER, term: "l", timeoutMs: 15_000 };
  return new MeshPlay({ followsClusters: true, edsCache: "at-once", ...options }).start(root);
}

/** One of all Listeners, which waits for them for ever. */
export function listening(options: PlayOptions = {}): MeshPlay {
  return new MeshPlay(options).start({ ...ROOT.listeners, timeoutMs: 0 });
}

/** One of all Clusters, which waits for them for ever. */
export function clustering(options: PlayOptions = {}): MeshPlay {
  return new MeshPlay(options).start({ ...ROOT.clusters, timeoutMs: 0 });
}

/** The Cluster `c` and its endpoints, the Listener `l` and its routes `r` to that Cluster; with the version. */
export const c1: HeldResource = held(CLUSTER, "c", "1", [need.endpoints("c")]);
export const c2: HeldResource = held(CLUSTER, "c", "2", [need.endpoints("c")]);
export const e1: HeldResource = held(ENDPOINTS, "c", "1");
export const l1: HeldResource = held(LISTENER, "l", "1", [need.routes("r")]);
export const l2: HeldResource = held(LISTENER, "l", "2", [need.routes("r")]);
export const r1: HeldResource = held(ROUTE, "r", "1", [need.cluster("c")]);
