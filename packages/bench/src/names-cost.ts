import { contentDigest } from "@xdskit/envoy-api";
import {
  anonymousNode,
  createResource,
  formatTypeUrl,
  type LayerChange,
  type Resource,
  type TypeUrl,
} from "@xdskit/protocol";
import { noInitialVersions, ServerMachine } from "@xdskit/protocol/internal";
import { format, median } from "./figures.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const CLUSTERS = 10_000;
const STREAMS = 1_000;
const NAMES_EACH = 10;
/** How many resources a transaction changes. */
const CHANGED = [1, 100, 1_000, 10_000] as const;

const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

/** Delta streams of a mesh on one server machine, without a network: each subscribes to all Clusters, and to endpoints of its own. */
class Mesh {
  readonly #machine = new ServerMachine({
    digest: contentDigest,
    traits: (type) =>
      type === CLUSTER
        ? { type, kind: "cds", isFullState: true, owes: [ENDPOINTS] }
        : { type, kind: "eds", isFullState: false, owes: [] },
    nodeMapping: () => ["base"],
  });
  #label = 0;

  constructor() {
    const all = Array.from({ length: CLUSTERS }, (_, i) => i);
    this.#commit([...all.map((i) => this.#cluster(i)), ...all.map((i) => this.#endpoints(i))]);
    for (let stream = 0; stream < STREAMS; stream++) {
      const opened = { variant: "delta", onlyType: undefined, apiVersion: "v3", peer } as const;
      this.#machine.on({ kind: "stream-opened", stream, connection: stream, ...opened });
      this.#hear(stream, CLUSTER, {});
      const subscribe = Array.from({ length: NAMES_EACH }, (_, i) => nameOf(stream * NAMES_EACH + i));
      this.#hear(stream, ENDPOINTS, { subscribe });
    }
    this.#settle();
  }

  /** Milliseconds of processor time until everything is sent and ACKed; and how many responses that took. */
  change(of: "Clusters" | "endpoints", count: number): { readonly ms: number; readonly responses: number } {
    this.#label++;
    const step = CLUSTERS / count;
    const changed = Array.from({ length: count }, (_, i) => (i * step + this.#label) % CLUSTERS);
    const puts = changed.map((i) => (of === "Clusters" ? this.#cluster(i) : this.#endpoints(i)));
    const before = process.cpuUsage();
    this.#commit(puts);
    const responses = this.#settle();
    const { user, system } = process.cpuUsage(before);
    return { ms: (user + system) / 1_000, responses };
  }

  #commit(puts: readonly Resource[]): void {
    const changes: readonly LayerChange[] = [{ layer: "base", puts }];
    this.#machine.on({ kind: "transaction-committed", transaction: { changes } });
  }

  #settle(): number {
    let responses = 0;
    while (this.#machine.isDue) {
      for (const effect of this.#machine.next(STREAMS)) {
        if (effect.kind !== "send") continue;
        responses++;
        this.#hear(effect.stream, effect.body.type, { nonce: effect.nonce });
      }
    }
    return responses;
  }

  #hear(
    stream: number,
    type: TypeUrl,
    what: { readonly nonce?: string; readonly subscribe?: readonly string[] },
  ): void {
    const { nonce, subscribe = [] } = what;
    const node = { ...anonymousNode, id: String(stream) };
    const request = { kind: "delta", type, node, nonce, error: undefined, subscribe, unsubscribe: [] } as const;
    this.#machine.on({
      kind: "request-received",
      stream,
      request: { ...request, initialVersions: noInitialVersions },
    });
  }

  #cluster(i: number): Resource {
    const references = [{ type: ENDPOINTS, name: nameOf(i) }];
    return createResource({ type: CLUSTER, name: nameOf(i), bytes: this.#bytes(i), references }, contentDigest);
  }

  #endpoints(i: number): Resource {
    return createResource({ type: ENDPOINTS, name: nameOf(i), bytes: this.#bytes(i) }, contentDigest);
  }

  #bytes(i: number): Uint8Array {
    return Buffer.from(`${nameOf(i)} ${this.#label}`.padEnd(200, "."));
  }
}

/**
 * Measures what it costs the server machine that more or less of what clients ask for by name changes. Returns a
 * Markdown table.
 */
export function measureNames(rounds: number): string {
  const mesh = new Mesh();
  const rows = (["endpoints", "Clusters"] as const).flatMap((of) =>
    CHANGED.map((count) => {
      mesh.change(of, count); // compiles what it runs
      const costs = Array.from({ length: rounds }, () => mesh.change(of, count));
      const responses = median(costs.map((cost) => cost.responses));
      const ms = median(costs.map((cost) => cost.ms));
      return `| ${count.toLocaleString("en")} ${of} | ${responses} | ${format(ms)} | ${format((1_000 * ms) / responses)} |`;
    }),
  );
  return ["| changed | responses | CPU, ms | µs a response |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function nameOf(i: number): string {
  return `cluster-${i}`;
}
