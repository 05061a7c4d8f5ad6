import { anonymousNode, type Resource, type TypeUrl } from "@xdskit/protocol";
import { type DiscoveryRequest, type ServerEffect, ServerMachine, type StreamId } from "@xdskit/protocol/internal";
import type { MeshClient } from "./mesh-script.ts";
import { ModelEnvoy } from "./model-envoy.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, ROUTE, resource, traits } from "./resources.ts";

const TYPES: readonly TypeUrl[] = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

/** How a configuration changes all the time. */
export interface ChurnOptions {
  /** How long an answer takes to the client, and its ACK back, together. */
  readonly roundTripMs: number;
  readonly everyMs: number;
  readonly changes: number;
  /** How many of the newest Clusters are used; older ones are removed. */
  readonly window: number;
  /** What uses them: a Listener, a route, or a route of which each change brings another Listener too. */
  readonly user: "route" | "listener" | "both";
}

/** What was seen of it. */
export interface ChurnSeen {
  /** How long the client was at most without a version of the user that was there. */
  readonly stalestMs: number;
  /** How long a Cluster that is gone was held at most. */
  readonly longestHeldMs: number;
  /** What took longer than the limit of the order. */
  readonly overdue: number;
  readonly lost: readonly string[];
}

/** Plays a constant change with a client that answers after a while, on a clock of its own. */
export function churn(client: MeshClient, options: ChurnOptions): ChurnSeen {
  return new Churn(client, options).play();
}

class Churn {
  readonly #options: ChurnOptions;
  readonly #machine = new ServerMachine({ digest, traits, nodeMapping: () => ["base"] });
  readonly #envoy: ModelEnvoy;
  readonly #streams: Map<TypeUrl, StreamId>;
  readonly #agenda = new Map<number, (() => void)[]>();
  readonly #timers = new Set<number>();
  readonly #changedAt: number[] = [];
  readonly #goneAt = new Map<string, number>();
  #now = 0;
  #newest = -1;
  #told = -1;
  #stalestMs = 0;
  #longestHeldMs = 0;
  #overdue = 0;

  constructor({ variant, isAggregated }: MeshClient, options: ChurnOptions) {
    this.#options = options;
    // One that closed the stream of all endpoints for each new Cluster would never hear of any.
    this.#envoy = new ModelEnvoy(variant, isAggregated, { keepsStreams: true });
    this.#streams = new Map(TYPES.map((type, i) => [type, isAggregated ? 1 : i + 1]));
    this.#change();
    if (isAggregated) this.#open(1, undefined);
    else for (const [type, stream] of this.#streams) this.#open(stream, type);
  }

  play(): ChurnSeen {
    const { roundTripMs, everyMs, changes } = this.#options;
    this.#listen();
    const from = 20 * roundTripMs;
    for (let n = 0; n < changes; n++) this.#at(from + n * everyMs, () => this.#change());
    const end = from + changes * everyMs;
    while (this.#agenda.size > 0) {
      const next = Math.min(...this.#agenda.keys());
      if (next > end) break;
      this.#now = next;
      const due = this.#agenda.get(next) ?? [];
      this.#agenda.delete(next);
      for (const happens of due) {
        happens();
        this.#perform(this.#machine.next(1_000));
        this.#measure();
      }
    }
    const { lost } = this.#envoy;
    return { stalestMs: this.#stalestMs, longestHeldMs: this.#longestHeldMs, overdue: this.#overdue, lost };
  }

  #measure(): void {
    if (this.#told < this.#newest)
      this.#stalestMs = Math.max(this.#stalestMs, this.#now - (this.#changedAt[this.#told + 1] ?? 0));
    const held = this.#envoy.holdings;
    for (const [name, at] of this.#goneAt) {
      if (held[`cluster ${name}`] === undefined) continue;
      this.#longestHeldMs = Math.max(this.#longestHeldMs, this.#now - at);
    }
  }

  #change(): void {
    const n = ++this.#newest;
    this.#changedAt.push(this.#now);
    const { window, user } = this.#options;
    const name = `c${n}`;
    const used = Array.from({ length: Math.min(window, n + 1) }, (_, i) => `c${n - i}`);
    const references = used.map((each) => ({ type: CLUSTER, name: each }));
    const listener =
      user === "listener"
        ? resource(LISTENER, "l", String(n), { references })
        : resource(LISTENER, "l", user === "both" ? String(n) : "", { references: [{ type: ROUTE, name: "main" }] });
    const puts = [
      resource(CLUSTER, name, "1"),
      resource(ENDPOINTS, name, "1"),
      listener,
      resource(ROUTE, "main", String(n), { references }),
    ];
    const gone = `c${n - window}`;
    const deletes = n < window ? [] : [CLUSTER, ENDPOINTS].map((type) => ({ type, name: gone }));
    if (n >= window) this.#goneAt.set(gone, this.#now);
    this.#perform(
      this.#machine.on({
        kind: "transaction-committed",
        transaction: { changes: [{ layer: "base", puts, deletes }] },
      }),
    );
  }

  #at(ms: number, happens: () => void): void {
    const known = this.#agenda.get(ms) ?? [];
    known.push(happens);
    this.#agenda.set(ms, known);
  }

  get #halfWay(): number {
    return this.#now + this.#options.roundTripMs / 2;
  }

  /** What the client has to say is on its way. */
  #listen(): void {
    for (const outbox of this.#envoy.outboxes.values()) {
      for (const request of outbox.splice(0)) {
        this.#at(this.#halfWay, () => this.#receive(request));
      }
    }
  }

  #receive(request: DiscoveryRequest | "reopens"): void {
    if (request === "reopens" || request.type === undefined) return;
    const stream = this.#streams.get(request.type) ?? 0;
    const node = { ...anonymousNode, id: "n", userAgentName: "envoy" };
    this.#perform(this.#machine.on({ kind: "request-received", stream, request: { ...request, node } }));
  }

  #open(stream: StreamId, onlyType: TypeUrl | undefined): void {
    const { variant } = this.#envoy;
    const opened = { variant, onlyType, apiVersion: "v3", peer, connection: 1 } as const;
    this.#perform(this.#machine.on({ kind: "stream-opened", stream, ...opened }));
  }

  #perform(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "send") this.#send(effect);
      else if (effect.kind === "cancel-timer") this.#timers.delete(effect.timer);
      else if (effect.kind === "start-timer") {
        const { timer } = effect;
        this.#timers.add(timer);
        this.#at(this.#now + effect.ms, () => {
          if (this.#timers.delete(timer)) this.#perform(this.#machine.on({ kind: "timer-fired", timer }));
        });
      } else if (effect.kind === "report" && effect.report.kind === "order-overdue") this.#overdue++;
    }
  }

  #send(effect: Extract<ServerEffect, { kind: "send" }>): void {
    const { segments } = effect.body;
    const puts: readonly Resource[] = segments.flatMap((segment) => segment.puts);
    const user = puts.find((put) => put.name === (this.#options.user === "listener" ? "l" : "main"));
    if (user !== undefined) this.#told = Number(new TextDecoder().decode(user.bytes).split("=")[1]);
    this.#at(this.#halfWay, () => {
      this.#envoy.hear(effect);
      for (const stream of this.#envoy.inboxes.keys()) while (this.#envoy.take(stream)) this.#listen();
      this.#listen();
    });
  }
}
