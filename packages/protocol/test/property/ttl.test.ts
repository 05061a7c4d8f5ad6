import { anonymousNode, type LayerChange, type Node, type TypeUrl } from "@xdskit/protocol";
import { type ServerEffect, ServerMachine } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ExpiringClient } from "../support/expiring-client.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, ROUTE, resource, traits } from "../support/resources.ts";
import { tries } from "../support/script.ts";

const TYPES: readonly TypeUrl[] = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];
const TTLS: readonly (number | undefined)[] = [undefined, 600, 3_000, 9_000];
const VIEWS = [["base"], ["top", "base"]];
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const knowsTtls: Node = {
  ...anonymousNode,
  clientFeatures: ["xds.config.supports-resource-ttl", "xds.config.resource-in-sotw"],
};

const change = fc.record({
  layer: fc.constantFrom("base", "top"),
  type: fc.constantFrom(...TYPES),
  name: fc.constantFrom("a", "b"),
  label: fc.constantFrom("1", "2", "gone"),
  ttlMs: fc.constantFrom(...TTLS),
});
const step = fc.oneof(
  fc.record({ commit: fc.array(change, { minLength: 1, maxLength: 3 }) }),
  fc.record({ answers: fc.integer({ min: 1, max: 6 }), client: fc.nat(1) }),
  fc.record({ passes: fc.integer({ min: 10, max: 20_000 }) }),
  fc.record({ moves: fc.nat(1), client: fc.nat(1) }),
  fc.record({ breaks: fc.nat(1) }),
);
const script = fc.array(step, { minLength: 5, maxLength: 40 });

/** A server machine with a clock, and two clients that know ttls. */
class TimedWorld {
  readonly machine: ServerMachine;
  readonly clients = [new ExpiringClient("delta"), new ExpiringClient("sotw")];
  /** What expired at a client although it should be there. */
  readonly lost: string[] = [];
  readonly #isPerType: boolean;
  readonly #views = new Map<string, readonly string[]>();
  readonly #streams = new Map<ExpiringClient, Map<TypeUrl, number>>();
  readonly #cameBack = new Set<ExpiringClient>();
  readonly #timers = new Map<number, number>();
  #now = 0;
  #lastStream = 0;

  constructor(isPerType: boolean) {
    this.#isPerType = isPerType;
    this.machine = new ServerMachine({ digest, traits, nodeMapping: ({ id }) => this.#views.get(id) ?? ["base"] });
    for (const client of this.clients) this.connect(client);
  }

  connect(client: ExpiringClient): void {
    if (this.#streams.has(client)) this.#cameBack.add(client);
    for (const stream of new Set(this.#streams.get(client)?.values())) {
      this.#perform(this.machine.on({ kind: "stream-closed", stream }));
    }
    const connection = ++this.#lastStream;
    const open = (onlyType: TypeUrl | undefined): number => {
      const stream = ++this.#lastStream;
      const { variant } = client;
      this.#perform(
        this.machine.on({ kind: "stream-opened", stream, variant, onlyType, apiVersion: "v3", peer, connection }),
      );
      return stream;
    };
    const shared = this.#isPerType ? undefined : open(undefined);
    this.#streams.set(client, new Map(TYPES.map((type) => [type, shared ?? open(type)])));
    for (const request of client.connect()) this.#send(client, request);
    this.#turn();
  }

  commit(changes: readonly LayerChange[]): void {
    this.#perform(this.machine.on({ kind: "transaction-committed", transaction: { changes } }));
    this.#turn();
  }

  move(client: ExpiringClient, view: readonly string[]): void {
    this.#views.set(client.variant, view);
    const views = new Map(this.#views);
    this.#perform(
      this.machine.on({ kind: "transaction-committed", nodeMapping: ({ id }) => views.get(id) ?? ["base"] }),
    );
    this.#turn();
  }

  answer(client: ExpiringClient): boolean {
    const request = client.answer();
    if (request === undefined) return false;
    this.#send(client, request);
    this.#turn();
    return true;
  }

  /** Time goes by: what is due first happens first. */
  pass(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [timer, at] = [...this.#timers].sort(([, a], [, b]) => a - b)[0] ?? [undefined, Number.POSITIVE_INFINITY];
      const expiry = Math.min(...this.clients.map((client) => client.nextExpiry));
      const next = Math.min(at, expiry);
      if (next > until) break;
      this.#now = next;
      if (timer !== undefined && at <= expiry) {
        this.#timers.delete(timer);
        this.#perform(this.machine.on({ kind: "timer-fired", timer }));
        this.#turn();
      } else for (const client of this.clients) this.#expire(client);
    }
    this.#now = until;
  }

  get running(): number {
    return this.#timers.size;
  }

  #expire(client: ExpiringClient): void {
    for (const [type, name] of client.expire(this.#now)) {
      const view = this.#views.get(client.variant) ?? ["base"];
      const isThere = [...this.machine.resources(view, type)].some((one) => one.name === name);
      const states = [...this.machine.streams()].filter(({ variant }) => variant === client.variant);
      const isHeldOver = states.some(({ types }) =>
        types.some((one) => one.type === type && one.pendingRemovals.includes(name)),
      );
      // What ttl a cluster had that a delta client brings along, and that is gone, nobody knows any more.
      const isUnknown = client.variant === "delta" && this.#cameBack.has(client);
      if (isThere || (isHeldOver && !isUnknown)) this.lost.push(`${client.variant} ${type} ${name} at ${this.#now}`);
    }
  }

  #send(client: ExpiringClient, request: ReturnType<ExpiringClient["connect"]>[number]): void {
    const stream = request.type && this.#streams.get(client)?.get(request.type);
    if (stream === undefined) return;
    const node = { ...knowsTtls, id: client.variant };
    this.#perform(this.machine.on({ kind: "request-received", stream, request: { ...request, node } }));
  }

  #turn(): void {
    while (this.machine.isDue) this.#perform(this.machine.next(1));
  }

  #perform(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "start-timer") this.#timers.set(effect.timer, this.#now + effect.ms);
      else if (effect.kind === "cancel-timer") this.#timers.delete(effect.timer);
      else if (effect.kind === "send") {
        const client = this.clients.find((one) =>
          [...(this.#streams.get(one)?.values() ?? [])].includes(effect.stream),
        );
        client?.hear(effect, this.#now);
      }
    }
  }
}

describe.each([
  ["on one stream", false],
  ["on a stream for each type", true],
] as const)("%s", (_, isPerType) => {
  test("nothing that is served expires, and what has no ttl any more never does", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const world = new TimedWorld(isPerType);
        for (const step of steps) perform(world, step);
        expect(world.lost).toEqual([]);
        // In the end everything is there without a ttl, and accepted.
        const everything = TYPES.flatMap((type) => ["a", "b"].map((name) => resource(type, name, "last")));
        world.commit(["base", "top"].map((layer) => ({ layer, puts: everything })));
        while (world.clients.some((client) => world.answer(client)));
        world.pass(100_000);
        while (world.clients.some((client) => world.answer(client)));
        world.pass(100_000);
        expect([world.lost, world.clients.flatMap(({ complaints }) => complaints), world.running]).toEqual([[], [], 0]);
        for (const client of world.clients) {
          for (const type of TYPES) expect([...client.held(type).keys()].sort()).toEqual(["a", "b"]);
        }
      }),
      tries,
    );
  });
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function perform(world: TimedWorld, step: Step): void {
  if ("commit" in step) {
    const changes = step.commit.map(({ layer, type, name, label, ttlMs }): LayerChange => {
      if (label === "gone") return { layer, deletes: [{ type, name }] };
      return { layer, puts: [resource(type, name, label, ttlMs === undefined ? {} : { ttlMs })] };
    });
    world.commit(changes);
    return;
  }
  if ("passes" in step) {
    world.pass(step.passes);
    return;
  }
  const client = world.clients["breaks" in step ? step.breaks : step.client];
  if (client === undefined) return;
  if ("breaks" in step) world.connect(client);
  else if ("moves" in step) world.move(client, VIEWS[step.moves] ?? []);
  else for (let i = 0; i < step.answers; i++) world.answer(client);
}
