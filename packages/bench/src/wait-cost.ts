import { contentDigest } from "@xdskit/envoy-api";
import { anonymousNode, createResource, formatTypeUrl } from "@xdskit/protocol";
import { noInitialVersions, type RevisionFollower, ServerMachine } from "@xdskit/protocol/internal";
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
  #follower: RevisionFollower | undefined;
  #changes = 0;
  #unanswered: (readonly [stream: number, nonce: string])[] = [];

  /** `active`: so many nodes are sent the changes that are measured. */
  constructor(nodes: number, active: number) {
    this.#nodes = nodes;
    this.#machine = new ServerMachine({
      digest: contentDigest,
      traits: (type) => ({ type, kind: "cds", isFullState: true, owes: [] }),
      nodeMapping: ({ id }) => [Number(id) < active ? "base" : "idle"],
    });
    const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
    const opened = { variant: "delta", onlyType: undefined, apiVersion: "v3", peer } as const;
    this.#commit("idle");
    this.#commit("base");
    for (let stream = 0; stream < nodes; stream++) {
      this.#machine.on({ kind: "stream-opened", stream, connection: stream, ...opened });
      this.#hear(stream);
    }
    this.#takeSends();
    while (this.#unanswered.length > 0) this.acknowledge(false);
  }

  /**
   * ACKs some responses of the newest change, after another one if there are none left; returns the processor time for
   * each, in microseconds. `isAwaited`: while the newest revision is followed on every node, as `xds wait` has it; takes
   * effect with the next change.
   */
  acknowledge(isAwaited: boolean): number {
    if (this.#unanswered.length === 0) this.#change(isAwaited);
    const answered = this.#unanswered.splice(0, BATCH);
    const before = process.cpuUsage();
    for (const [stream, nonce] of answered) this.#hear(stream, nonce);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / answered.length;
  }

  /** Sends a changed Cluster to every active client. */
  #change(isAwaited: boolean): void {
    const { progress } = this.#machine;
    if (this.#follower !== undefined) progress.unfollow(this.#follower);
    this.#commit("base");
    this.#takeSends();
    this.#follower = isAwaited ? progress.follow(this.#machine.revision, () => true) : undefined;
  }

  #commit(layer: string): void {
    const bytes = Buffer.from(String(++this.#changes));
    const put = createResource({ type: CLUSTER, name: "a", bytes }, contentDigest);
    this.#machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer, puts: [put] }] } });
  }

  #takeSends(): void {
    for (const effect of this.#machine.next(this.#nodes))
      if (effect.kind === "send") this.#unanswered.push([effect.stream, effect.nonce]);
  }

  #hear(stream: number, nonce?: string): void {
    const node = { ...anonymousNode, id: String(stream) };
    const request = { kind: "delta", type: CLUSTER, node, nonce, error: undefined } as const;
    const names = { subscribe: [], unsubscribe: [], initialVersions: noInitialVersions };
    this.#machine.on({ kind: "request-received", stream, request: { ...request, ...names } });
  }
}

/**
 * Measures what an ACK costs the server machine among few and among many nodes, while nobody waits for a revision and
 * while somebody does: each a sweep over all nodes, in turn. Where 200 of many nodes are sent a change, an ACK does the
 * same work in as little memory as with few. Returns a Markdown table.
 */
export function measureWait(sweeps: number): string {
  const fleets = [
    { is: FEW.toLocaleString("en"), fleet: new Fleet(FEW, FEW) },
    { is: MANY.toLocaleString("en"), fleet: new Fleet(MANY, MANY) },
    { is: `${MANY.toLocaleString("en")}, of which ${FEW} are sent a change`, fleet: new Fleet(MANY, FEW) },
  ].map((each) => ({ ...each, costs: [[], []] as [number[], number[]] }));
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (const isAwaited of [false, true])
      for (const { fleet, costs } of fleets)
        for (let batch = 0; batch < MANY / BATCH; batch++) costs[isAwaited ? 1 : 0].push(fleet.acknowledge(isAwaited));
  }
  const [few] = fleets;
  const rows = fleets.map(({ is, costs }) => {
    const figures = costs.map((each, i) => {
      const ratio = median(each) / median(few?.costs[i === 0 ? 0 : 1] ?? [1]);
      return `${format(median(each))} (${ratio.toFixed(2)})`;
    });
    return `| ${is} | ${figures.join(" | ")} |`;
  });
  return [
    "| nodes | an ACK, nobody waits, µs (ratio) | an ACK, somebody waits, µs (ratio) |",
    "| --- | --- | --- |",
    ...rows,
  ].join("\n");
}
