import { contentDigest } from "@xdskit/envoy-api";
import { createBodyEncoder } from "@xdskit/envoy-api/internal";
import { anonymousNode, createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { type Body, noInitialVersions, ServerMachine } from "@xdskit/protocol/internal";
import { format, median } from "./figures.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const IN_BASE = 10_000;
const IN_GROUP = 100;

/** What the layers of the groups hold, beside base. */
interface Kind {
  readonly is: string;
  /** The layers of the groups hold other content for names of base. */
  readonly overrides: boolean;
  /** Each node has a layer of its own. */
  readonly own: boolean;
}

const kinds: readonly Kind[] = [
  { is: "to another group", overrides: false, own: false },
  { is: "to another group, with layers of their own", overrides: false, own: true },
  { is: "to a group that overrides base", overrides: true, own: false },
];

/** Processor time in milliseconds. */
interface MoveCost {
  /** The turn of the event loop in which the mapping changes. */
  readonly commit: number[];
  /** From then until all have their layers; divided into slices. */
  readonly placing: number[];
  /** From then until everything is sent, encoded and ACKed. */
  readonly sending: number[];
  /** A commit that changes the resources of the group, until everything is sent, encoded and ACKed. */
  readonly change: number[];
}

/** Delta streams on one server machine, without a network, whose nodes are all in one of two groups. */
class MovingFleet {
  readonly #machine: ServerMachine;
  readonly #encoder = createBodyEncoder({ controlPlane: "" });
  readonly #prefix: string;
  #group = "a";
  #label = 0;

  constructor(streams: number, { overrides, own }: Kind) {
    this.#prefix = overrides ? "base" : "group";
    this.#machine = new ServerMachine({
      digest: contentDigest,
      traits: (type) => ({ type, kind: "cds", isFullState: true, owes: [] }),
      nodeMapping: { groups: [{ name: "a", match: {} }] },
    });
    const nodes = Array.from({ length: streams }, (_, i) => i);
    const changes = [
      { layer: "base", puts: Array.from({ length: IN_BASE }, (_, i) => cluster(`base-${i}`, "")) },
      ...["a", "b"].map((group) => ({ layer: `group/${group}`, puts: this.#inGroup() })),
      ...(own ? nodes.map((i) => ({ layer: `node/${i}`, puts: [cluster("own", String(i))] })) : []),
    ];
    this.#machine.on({ kind: "transaction-committed", transaction: { changes } });
    const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
    const opened = { variant: "delta", onlyType: undefined, apiVersion: "v3", peer } as const;
    for (const stream of nodes) {
      this.#machine.on({ kind: "stream-opened", stream, connection: stream, ...opened });
      this.#hear(stream);
    }
    this.#settle();
  }

  measure(into: MoveCost): void {
    this.#group = this.#group === "a" ? "b" : "a";
    const nodeMapping = { groups: [{ name: this.#group, match: {} }] };
    into.commit.push(timed(() => this.#machine.on({ kind: "transaction-committed", nodeMapping })));
    into.placing.push(
      timed(() => {
        while (this.#machine.isPlacementDue) this.#machine.placeNext();
      }),
    );
    into.sending.push(timed(() => this.#settle()));
    const changes = [{ layer: `group/${this.#group}`, puts: this.#inGroup() }];
    into.change.push(
      timed(() => {
        this.#machine.on({ kind: "transaction-committed", transaction: { changes } });
        this.#settle();
      }),
    );
  }

  #inGroup(): readonly Resource[] {
    const label = String(++this.#label);
    return Array.from({ length: IN_GROUP }, (_, i) => cluster(`${this.#prefix}-${i}`, label));
  }

  #settle(): void {
    const answers: (readonly [stream: number, nonce: string, body: Body])[] = [];
    while (this.#machine.isDue) {
      for (const effect of this.#machine.next(1)) {
        if (effect.kind !== "send") continue;
        this.#encoder.encode(effect.body);
        answers.push([effect.stream, effect.nonce, effect.body]);
      }
    }
    for (const [stream, nonce] of answers) this.#hear(stream, nonce);
  }

  #hear(stream: number, nonce?: string): void {
    const node = { ...anonymousNode, id: String(stream) };
    const request = { kind: "delta", type: CLUSTER, node, nonce, error: undefined } as const;
    const names = { subscribe: [], unsubscribe: [], initialVersions: noInitialVersions };
    this.#machine.on({ kind: "request-received", stream, request: { ...request, ...names } });
  }
}

/**
 * Measures what it costs the server machine that all nodes move to another group, beside a change of the same size.
 * Returns a Markdown table.
 */
export function measureMoves(streams: readonly number[], rounds: number): string {
  const rows = streams.flatMap((count) =>
    kinds.map((kind) => {
      const fleet = new MovingFleet(count, kind);
      const cost: MoveCost = { commit: [], placing: [], sending: [], change: [] };
      for (let round = 0; round < rounds; round++) fleet.measure(cost);
      const { commit, placing, sending, change } = cost;
      const figures = [commit, placing, sending, change].map((each) => format(median(each)));
      return `| ${count.toLocaleString("en")} ${kind.is} | ${figures.join(" | ")} |`;
    }),
  );
  return [
    "| streams that move | turn of the change of the mapping, ms | placing the rest, in slices, ms | sending, ms | a change of the group's resources, ms |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

function cluster(name: string, label: string): Resource {
  const bytes = Buffer.from(`${name} ${label}`.padEnd(200, "."));
  return createResource({ type: CLUSTER, name, bytes }, contentDigest);
}

function timed(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
