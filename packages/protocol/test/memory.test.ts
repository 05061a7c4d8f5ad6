import type { Body } from "@xdskit/protocol/internal";
import { type ServerEffect, ServerMachine } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { delta, node, sotw } from "./support/conversation.ts";
import { heldOf } from "./support/garbage.ts";
import { CLUSTER, digest, resource, traits } from "./support/resources.ts";

const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
type Variant = Body["variant"];

/** Clients of Clusters, of which nothing is remembered but what the server machine does. */
class Clients {
  readonly machine: ServerMachine;
  readonly #variant: Variant;
  /** Every body that was sent. */
  readonly bodies: WeakRef<Body>[] = [];
  /** What was in them of the layer at the bottom. */
  readonly ofBase: WeakRef<object>[] = [];

  constructor(variant: Variant, nodeMapping: (id: string) => readonly string[] = () => ["base"]) {
    this.#variant = variant;
    this.machine = new ServerMachine({ digest, traits, nodeMapping: ({ id }) => nodeMapping(id) });
  }

  commit(layer: string, ...names: readonly string[]): void {
    const puts = names.map((name) => resource(CLUSTER, name, String(this.machine.revision), { references: [] }));
    this.machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer, puts }] } });
  }

  open(stream: number): void {
    const [variant, onlyType] = [this.#variant, undefined];
    this.machine.on({ kind: "stream-opened", stream, variant, onlyType, apiVersion: "v3", peer, connection: stream });
    this.ask(stream, { node: node(String(stream)) });
  }

  ask(stream: number, what: Parameters<typeof sotw>[1] & Parameters<typeof delta>[1]): void {
    const request = this.#variant === "sotw" ? sotw(CLUSTER, what) : delta(CLUSTER, what);
    this.machine.on({ kind: "request-received", stream, request });
  }

  /** Every turn that is due; what is sent is accepted, unless it is left unanswered. Each in a job of its own, as on a server. */
  async turns(names: readonly string[] = []): Promise<void> {
    while (this.machine.isDue) {
      for (const { stream, body, nonce } of this.machine.next(100).filter(isSend)) {
        this.bodies.push(new WeakRef(body));
        this.ofBase.push(...body.segments.slice(-1).map((segment) => new WeakRef(segment)));
        this.ask(stream, { nonce, versionInfo: body.version, names });
      }
      await new Promise(setImmediate);
    }
  }
}

type Send = Extract<ServerEffect, { kind: "send" }>;
function isSend(effect: ServerEffect): effect is Send {
  return effect.kind === "send";
}

test.each(["sotw", "delta"] as const)(
  "a view that was told everything once keeps nothing of it when it was told what came after, in %s",
  async (variant) => {
    const clients = new Clients(variant, (id) => [`node/${id}`, "base"]);
    clients.commit("base", ...Array.from({ length: 100 }, (_, i) => `c${i}`));
    for (let stream = 1; stream <= 20; stream++) {
      clients.commit(`node/${stream}`, "c1", "own");
      clients.commit("base", "c2");
      clients.open(stream);
      await clients.turns();
    }
    const told = clients.ofBase.length;
    clients.commit("base", "c3");
    await clients.turns();
    expect(told).toBeGreaterThanOrEqual(20);
    expect(await heldOf(clients.ofBase.slice(0, told))).toBe(0);
  },
);

test("a client that asks for one name after another leaves behind what it is told now", async () => {
  const clients = new Clients("sotw");
  const all = Array.from({ length: 200 }, (_, i) => `c${i}`);
  clients.commit("base", ...all);
  clients.open(1);
  clients.ask(1, { names: ["c0"] });
  await clients.turns(["c0"]);
  for (let i = 1; i < all.length; i++) {
    const names = all.slice(0, i + 1);
    clients.ask(1, { names });
    await clients.turns(names);
  }
  expect(clients.bodies.length).toBeGreaterThanOrEqual(all.length - 1);
  expect(await heldOf(clients.bodies, 2)).toBeLessThanOrEqual(2);
});

test("clients that are told the same in jobs of their own are told it in one body", async () => {
  const clients = new Clients("delta");
  clients.commit("base", "a", "b");
  for (let stream = 1; stream <= 20; stream++) {
    clients.open(stream);
    await clients.turns();
  }
  expect(new Set(clients.bodies.map((ref) => ref.deref())).size).toBe(1);
});
