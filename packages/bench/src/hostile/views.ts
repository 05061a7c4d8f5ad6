import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";

export const CLUSTER: TypeUrl = formatTypeUrl("envoy.config.cluster.v3.Cluster");
export const ENDPOINTS: TypeUrl = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
export const LISTENER: TypeUrl = formatTypeUrl("envoy.config.listener.v3.Listener");
const ROUTE: TypeUrl = formatTypeUrl("envoy.config.route.v3.RouteConfiguration");
export const types: readonly TypeUrl[] = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];
export const names: readonly string[] = Array.from({ length: 12 }, (_, i) => `n${i}`);
export const layers: readonly string[] = ["base", "group/0", "group/1", "node/0", "node/1", "node/2"];

/** Puts a resource into a layer; without a label, deletes it. */
export interface Write {
  readonly layer: string;
  readonly type: string;
  readonly name: string;
  readonly label?: string;
}

/** The node whose edits are timed, and the layer that it alone has. */
export const GOOD_NODE = "good-0";
export const GOOD_LAYER = "node/good";

/** The layers of a node by the number in its id, top-most first. */
export function layersOf(id: string): readonly string[] {
  if (id === GOOD_NODE) return [GOOD_LAYER, "base"];
  const number = Number(id.replace(/^.*-/, ""));
  return [`node/${number % 3}`, `group/${number % 2}`, "base"];
}

/** The expected resources, as the writer knows them. */
export class Truth {
  readonly #labels = new Map<string, string>();

  take({ layer, type, name, label }: Write): void {
    const key = `${layer} ${type} ${name}`;
    if (label === undefined) this.#labels.delete(key);
    else this.#labels.set(key, label);
  }

  /** The label that a node sees under a name; undefined if there is no resource. */
  label(id: string, type: string, name: string): string | undefined {
    for (const layer of layersOf(id)) {
      const label = this.#labels.get(`${layer} ${type} ${name}`);
      if (label !== undefined) return label;
    }
    return undefined;
  }
}
