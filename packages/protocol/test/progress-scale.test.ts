import { ServerMachine } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { delta, node } from "./support/conversation.ts";
import { CLUSTER, digest, resource, traits } from "./support/resources.ts";
import { Work } from "./support/work.ts";

const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const error = { code: 13, message: "no" };
const idOf = (stream: number): string => `node-${String(stream).padStart(5, "0")}`;

/** A server machine with nodes that all have one cluster, each by a stream of its own. */
class Fleet {
  readonly machine: ServerMachine = new ServerMachine({ digest, traits, nodeMapping: () => ["base"] });
  readonly #nodes: number;

  constructor(nodes: number) {
    this.#nodes = nodes;
    this.#commit("1");
    const opened = { variant: "delta", onlyType: undefined, apiVersion: "v3", peer } as const;
    for (let stream = 0; stream < nodes; stream++) {
      this.machine.on({ kind: "stream-opened", stream, connection: stream, ...opened });
      this.machine.on({
        kind: "request-received",
        stream,
        request: { ...delta(CLUSTER, {}), node: node(idOf(stream)) },
      });
    }
    for (const [stream, nonce] of this.#sent()) this.answer(stream, nonce);
  }

  /** Changes the cluster; the nonces that the streams get. */
  change(version: string): ReadonlyMap<number, string> {
    this.#commit(version);
    return this.#sent();
  }

  #commit(version: string): void {
    const put = resource(CLUSTER, "a", version);
    this.machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts: [put] }] } });
  }

  #sent(): ReadonlyMap<number, string> {
    const effects = this.machine.next(this.#nodes);
    return new Map(effects.flatMap((effect) => (effect.kind === "send" ? [[effect.stream, effect.nonce]] : [])));
  }

  answer(stream: number, nonce: string, rejection?: typeof error): void {
    const request = delta(CLUSTER, { nonce, ...(rejection !== undefined && { error: rejection }) });
    this.machine.on({ kind: "request-received", stream, request });
  }
}

test("of 20,000 nodes it is exact who has a revision, and who has not is named", () => {
  const fleet = new Fleet(20_000);
  const { progress, revision: before } = fleet.machine;
  const everybody = (): boolean => true;
  expect(progress.of(before, everybody)).toEqual({
    ...{ revision: before, nodes: 20_000, deployed: 20_000, pending: [], nacked: [], disconnected: [] },
  });
  const nonces = fleet.change("2");
  const { revision } = fleet.machine;
  const follower = progress.follow(revision, everybody);
  const [silent, refusing, leaving] = [new Set([7, 4_711, 19_999]), new Set([0, 12_345]), new Set([3, 10_000])];
  for (const [stream, nonce] of nonces) {
    if (leaving.has(stream)) fleet.machine.on({ kind: "stream-closed", stream });
    else if (!silent.has(stream)) fleet.answer(stream, nonce, refusing.has(stream) ? error : undefined);
  }
  const found = progress.of(revision, everybody);
  const ids = (of: ReadonlySet<number>): readonly string[] => [...of].map(idOf);
  expect({
    ...found,
    pending: found.pending.map((one) => one.node.id),
    nacked: found.nacked.map(({ node: { id }, types }) => [id, types.map(({ names, error: why }) => [names, why])]),
    disconnected: found.disconnected.map(({ id }) => id),
  }).toEqual({
    ...{ revision, nodes: 19_998, deployed: 19_993, pending: ids(silent), disconnected: ids(leaving) },
    nacked: ids(refusing).map((id) => [id, [[["a"], error]]]),
  });
  // What is counted as answers come is what a look at everybody finds.
  const { pending, nacked, deployedNodes } = follower;
  expect({ pending, nacked, deployedNodes }).toEqual({ pending: 3, nacked: 2, deployedNodes: 19_993 });
}, 300_000);

test("an ACK costs the same among 20,000 nodes as among 200, while somebody waits and while nobody does", () => {
  const steps = [200, 20_000].map((nodes) => {
    const fleet = new Fleet(nodes);
    const nonces = [...fleet.change("2")];
    expect(nonces).toHaveLength(nodes);
    const { progress, revision } = fleet.machine;
    const cost = (waits: number): number => {
      for (let i = 0; i < waits; i++) progress.follow(revision, () => true);
      const answered = nonces.splice(0, 60);
      return new Work().of(() => {
        for (const [stream, nonce] of answered) fleet.answer(stream, nonce);
      });
    };
    return [cost(0), cost(1), cost(2)];
  });
  const [few = [], many = []] = steps;
  expect(few[0]).toBeGreaterThan(0);
  expect(many.map((count, index) => count / (few[index] ?? 0))).toEqual([1, 1, 1].map(() => expect.closeTo(1, 1)));
}, 300_000);
