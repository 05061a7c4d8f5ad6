import { contentDigest } from "@xdskit/envoy-api";
import { anonymousNode, createResource, formatTypeUrl } from "@xdskit/protocol";
import { noInitialVersions, ServerMachine } from "@xdskit/protocol/internal";
import { format, median } from "./figures.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const FEW = 200;
const MANY = 20_000;
/** How many ACKs are measured together. */
const BATCH = FEW;

/** Clients of one server machine, without a network: each has a node and a delta stream of its own. */
class Fleet {
  readonly #machine: ServerMachine;
  readonly #nodes: number;
  #changes = 0;
  #unanswered: (readonly [stream: number, nonce: string])[] = [];

  constructor(nodes: number) {
    this.#nodes = nodes;
    this.#machine = new ServerMachine({
      digest: contentDigest,
      traits: (type) => ({ type, kind: "cds", isFullState: true, owes: [] }),
      nodeMapping: () => ["base"],
    });
    const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
    const opened = { variant: "delta", onlyType: undefined, apiVersion: "v3", peer } as const;
    this.#commit();
    for (let stream = 0; stream < nodes; stream++) {
      this.#machine.on({ kind: "stream-opened", stream, connection: stream, ...opened });
      this.#hear(stream);
    }
    this.#takeSends();
    while (this.#unanswered.length > 0) this.acknowledge(false);
  }

  /**
   * ACKs some responses of the newest change, after another one if there are none left; returns the processor time for
   * each, in microseconds. `isAwaited`: while the newest revision is followed on every node, as `xds wait` has it.
   */
  acknowledge(isAwaited: boolean): number {
    if (this.#unanswered.length === 0) this.#change();
    const { progress, revision } = this.#machine;
    const follower = isAwaited ? progress.follow(revision, () => true) : undefined;
    const answered = this.#unanswered.splice(0, BATCH);
    const before = process.cpuUsage();
    for (const [stream, nonce] of answered) this.#hear(stream, nonce);
    const { user, system } = process.cpuUsage(before);
    if (follower !== undefined) progress.unfollow(follower);
    return (user + system) / answered.length;
  }

  /** Sends a changed Cluster to every client. */
  #change(): void {
    this.#commit();
    this.#takeSends();
  }

  #commit(): void {
    const bytes = Buffer.from(String(++this.#changes));
    const put = createResource({ type: CLUSTER, name: "a", bytes }, contentDigest);
    this.#machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts: [put] }] } });
  }

  #takeSends(): void {
    for (const effect of this.#machine.next(this.#nodes))
      if (effect.kind === "send") this.#unanswered.push([effect.stream, effect.nonce]);
  }

  #hear(stream: number, nonce?: string): void {
    const node = { ...anonymousNode, id: `node-${stream}` };
    const request = { kind: "delta", type: CLUSTER, node, nonce, error: undefined } as const;
    const names = { subscribe: [], unsubscribe: [], initialVersions: noInitialVersions };
    this.#machine.on({ kind: "request-received", stream, request: { ...request, ...names } });
  }
}

/**
 * Measures what an ACK costs the server machine among few and among many nodes, while nobody waits for a revision and
 * while somebody does, in turn. Returns a Markdown table.
 */
export function measureWait(rounds: number): string {
  const fleets = [new Fleet(FEW), new Fleet(MANY)] as const;
  const costs = fleets.map(() => ({ alone: [] as number[], followed: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const [index, fleet] of fleets.entries()) {
      costs[index]?.alone.push(fleet.acknowledge(false));
      costs[index]?.followed.push(fleet.acknowledge(true));
    }
  }
  const rows = costs.map(({ alone, followed }) => [median(alone), median(followed)] as const);
  const [few = [0, 0], many = [0, 0]] = rows;
  return [
    "| nodes | an ACK, nobody waits, µs | an ACK, somebody waits, µs |",
    "| --- | --- | --- |",
    ...[FEW, MANY].map((nodes, i) => `| ${nodes.toLocaleString("en")} | ${(rows[i] ?? []).map(format).join(" | ")} |`),
    `| ratio | ${many.map((cost, i) => (cost / (few[i] ?? 1)).toFixed(2)).join(" | ")} |`,
  ].join("\n");
}
