import { createResource, formatTypeUrl, type Node, type Resource, type TypeUrl } from "@xdskit/protocol";
import {
  type DiscoveryRequest,
  noInitialVersions,
  type ServerEffect,
  type ServerEvent,
  ServerMachine,
  type TypeTraits,
} from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { contentDigest } from "../src/digest.ts";
import { createBodyEncoder } from "../src/wire/body-encoder.ts";
import type { EncodingCounters } from "../src/wire/segment-encoder.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const traits = (type: TypeUrl): TypeTraits => ({ type, kind: "cds", isFullState: true, owes: [] });
const nameOf = (i: number): string => `cluster-${i}`;

function cluster(name: string, label: string): Resource {
  const bytes = Buffer.from(label.padEnd(200, "."));
  return createResource({ type: CLUSTER, name, bytes }, contentDigest);
}

function node(id: string): Node {
  const nothing = { cluster: "", locality: undefined, metadata: {}, userAgentName: "", userAgentVersion: "" };
  return { ...nothing, id, clientFeatures: [] };
}

/** The layers of each node, and what its own one holds. */
interface Views {
  readonly layers: (id: string) => readonly string[];
  readonly own: (i: number) => readonly Resource[];
}

/** Nodes that all subscribe to all Clusters of a server, whose responses are encoded. */
class Fleet {
  readonly #variant: "delta" | "sotw";
  readonly #machine: ServerMachine;
  readonly #encoder = createBodyEncoder({ controlPlane: "" });
  #unanswered: Extract<ServerEffect, { kind: "send" }>[] = [];

  constructor(variant: "delta" | "sotw", size: { nodes: number; resources: number }, { layers, own }: Views) {
    this.#variant = variant;
    this.#machine = new ServerMachine({ digest: contentDigest, traits, nodeMapping: ({ id }) => layers(id) });
    const ids = Array.from({ length: size.nodes }, (_, i) => i);
    this.commit(
      { layer: "base", puts: Array.from({ length: size.resources }, (_, i) => cluster(nameOf(i), "1")) },
      { layer: "group", puts: [0, 40, 80].map((i) => cluster(nameOf(i), "of the group")) },
      ...ids.map((i) => ({ layer: `node/${i}`, puts: own(i) })),
    );
    for (const stream of ids) {
      const opened = { kind: "stream-opened", variant, onlyType: undefined, apiVersion: "v3", peer } as const;
      this.#on({ ...opened, stream, connection: stream });
      this.#hear(stream);
    }
    this.settle();
  }

  commit(...changes: readonly { readonly layer: string; readonly puts: readonly Resource[] }[]): void {
    this.#on({ kind: "transaction-committed", transaction: { changes } });
  }

  /** Every client is sent everything, and ACKs it. */
  settle(): void {
    for (this.#flush(); this.#unanswered.length > 0; this.#flush()) {
      const answered = this.#unanswered;
      this.#unanswered = [];
      for (const { stream, nonce } of answered) this.#hear(stream, nonce);
    }
  }

  /** What is encoded for a change. */
  encodedFor(change: () => void): EncodingCounters {
    const before = { ...this.#encoder.counters };
    change();
    this.settle();
    const { segmentsEncoded, framesEncoded, bodiesEncoded, bytesEncoded } = this.#encoder.counters;
    return {
      segmentsEncoded: segmentsEncoded - before.segmentsEncoded,
      framesEncoded: framesEncoded - before.framesEncoded,
      bodiesEncoded: bodiesEncoded - before.bodiesEncoded,
      bytesEncoded: bytesEncoded - before.bytesEncoded,
    };
  }

  #hear(stream: number, nonce?: string): void {
    const common = { type: CLUSTER, node: node(String(stream)), error: undefined, nonce };
    const request: DiscoveryRequest =
      this.#variant === "delta"
        ? { ...common, kind: "delta", subscribe: [], unsubscribe: [], initialVersions: noInitialVersions }
        : { ...common, kind: "sotw", names: [], versionInfo: undefined };
    this.#on({ kind: "request-received", stream, request });
  }

  #on(event: ServerEvent): void {
    this.#take(this.#machine.on(event));
  }

  #flush(): void {
    while (this.#machine.isDue) this.#take(this.#machine.next(1));
  }

  #take(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind !== "send") continue;
      this.#encoder.encode(effect.body);
      this.#unanswered.push(effect);
    }
  }
}

const views: Readonly<Record<"one" | "adding" | "hiding the same" | "under a group", Views>> = {
  one: { layers: () => ["base"], own: () => [] },
  adding: { layers: (id) => [`node/${id}`, "base"], own: (i) => [cluster("own", `of ${i}`)] },
  "hiding the same": { layers: (id) => [`node/${id}`, "base"], own: (i) => [cluster(nameOf(1), `of ${i}`)] },
  "under a group": { layers: (id) => [`node/${id}`, "group", "base"], own: (i) => [cluster("own", `of ${i}`)] },
};

const cases = (["delta", "sotw"] as const).flatMap((variant) => [
  ...(["adding", "hiding the same"] as const).map((kind) => ({ nodes: 500, variant, kind })),
  { nodes: variant === "delta" ? 10_000 : 1_000, variant, kind: "under a group" as const },
]);

test.each(cases)(
  "for $nodes node views one change encodes what it does for one view: $variant, $kind",
  (what) => {
    const [one, many] = [
      { nodes: 1, of: views.one },
      { nodes: what.nodes, of: views[what.kind] },
    ].map(({ nodes, of }) => {
      const fleet = new Fleet(what.variant, { nodes, resources: 100 }, of);
      return fleet.encodedFor(() => fleet.commit({ layer: "base", puts: [cluster(nameOf(50), "2")] }));
    });
    const { segmentsEncoded, framesEncoded } = one as EncodingCounters;
    expect([segmentsEncoded, one?.bodiesEncoded]).toEqual([1, 1]);
    // Each view has a version of its own, so a body each: its head beside the shared bytes.
    expect(many).toEqual({
      ...{ segmentsEncoded, bodiesEncoded: what.nodes },
      framesEncoded: expect.toSatisfy((frames: number) => frames > 0 && frames <= framesEncoded),
      bytesEncoded: expect.toSatisfy((bytes: number) => bytes <= (one?.bytesEncoded ?? 0) + what.nodes * 100),
    });
  },
  60_000,
);

test("views that each hide another resource encode only the part that changed, once for each that hides some of it", () => {
  const nodes = 300;
  const resources = 9_000;
  const encodedFor = ({ layers, own }: Views): EncodingCounters => {
    const fleet = new Fleet("sotw", { nodes, resources }, { layers, own });
    return fleet.encodedFor(() => fleet.commit({ layer: "base", puts: [cluster(nameOf(4_500), "2")] }));
  };
  const own = (i: number): readonly Resource[] => [cluster(nameOf(i * 30), `of ${i}`)];
  const one = encodedFor(views.one);
  const each = encodedFor({ layers: (id) => [`node/${id}`, "base"], own });
  // Of 9,000 resources in parts of some 220, a view in 30 hides one of the part.
  const hiding = Math.ceil(one.framesEncoded / 30) + 1;
  expect(one.segmentsEncoded).toBe(1);
  expect(each.segmentsEncoded).toBeLessThanOrEqual(1 + hiding);
  expect(each.framesEncoded).toBeLessThanOrEqual((1 + hiding) * one.framesEncoded);
}, 60_000);
