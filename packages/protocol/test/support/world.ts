import {
  type LayerChange,
  Plane,
  type PlaneEffect,
  type Resource,
  type StreamId,
  type TypeUrl,
} from "@xdskit/protocol";
import { ModelClient } from "./model-client.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, ROUTE, resource, traits } from "./resources.ts";

/** One thing that happens: which, and three numbers that say to what. */
export type Step = readonly [what: number, a: number, b: number, c: number];

const LAYERS = ["base", "group/1", "group/2", "node/1"];
const VIEWS = [["base"], ["group/1", "base"], ["group/2", "base"], ["node/1", "group/1", "base"]];
const TYPES: readonly TypeUrl[] = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];
const NAMES = ["a", "b", "c"];
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

export interface Trouble {
  readonly refusals: boolean;
  readonly breaks: boolean;
  readonly moves: boolean;
  readonly trims: boolean;
}

/** Clients of both variants around one plane, with messages on their way, driven by a script of numbers. */
export class World {
  readonly plane: Plane;
  readonly clients: readonly ModelClient[];
  readonly #trouble: Trouble;
  readonly #streamOf = new Map<ModelClient, StreamId>();
  readonly #viewOf = new Map<ModelClient, number>();
  readonly #timers: number[] = [];
  #lastStream = 0;
  #sends = 0;

  constructor(trouble: Trouble) {
    this.#trouble = trouble;
    this.plane = new Plane({
      digest,
      traits,
      placement: (node) => VIEWS[Number(node.id)] ?? [],
      ...(trouble.trims ? { maxJournalLines: 2 } : {}),
    });
    const wild = [CLUSTER, LISTENER].map((type) => ({ type, isWildcard: true, names: [], isFullState: true }));
    const named = [CLUSTER, LISTENER].map((type) => ({ type, isWildcard: false, names: ["a"], isFullState: true }));
    const children = [ENDPOINTS, ROUTE].map((type) => ({
      type,
      isWildcard: false,
      names: ["a", "b"],
      isFullState: false,
    }));
    this.clients = (["delta", "sotw"] as const).flatMap((variant) => [
      new ModelClient(variant, [...wild, ...children]),
      new ModelClient(variant, [...named, ...children]),
    ]);
    for (const [i, client] of this.clients.entries()) {
      this.#viewOf.set(client, i);
      this.#connect(client);
    }
  }

  /** Responses sent so far. */
  get sends(): number {
    return this.#sends;
  }

  step([what, a, b, c]: Step): void {
    const client = this.clients[a % this.clients.length];
    if (client === undefined) return;
    const type = TYPES[b % 4] ?? CLUSTER;
    const name = NAMES[c % 3] ?? "a";
    switch (what % 12) {
      case 0:
      case 1:
        this.#commit([a, b, c]);
        break;
      case 2:
        this.#commit([a, b, c, c + 1, a + c, b + 3]);
        break;
      case 3:
      case 4:
        this.#sendRequest(client);
        break;
      case 5:
        client.answer(!(this.#trouble.refusals && b % 3 === 0));
        break;
      case 6:
        client.subscribe(type, name);
        break;
      case 7:
        client.unsubscribe(type, name);
        break;
      case 8:
        if (c % 2 === 0) client.joinWildcard(type);
        else client.leaveWildcard(type);
        break;
      case 9:
        if (this.#trouble.breaks && b % 2 === 0) this.#connect(client);
        else this.#turns(1 + (b % 3));
        break;
      case 10:
        if (this.#trouble.moves) this.#move(client, b);
        else this.#fireTimer();
        break;
      default:
        if (b % 4 === 0) this.#fireTimer();
        else this.#turns(1 + (b % 5));
    }
  }

  /** Everything arrives and is accepted, until nobody has anything to say. */
  settle(): void {
    for (let round = 0; round < 200; round++) {
      this.#turns(100);
      let isQuiet = !this.plane.isDue;
      for (const client of this.clients) {
        while (client.inbox.length > 0) {
          client.answer(true);
          isQuiet = false;
        }
        while (client.outbox.length > 0) {
          this.#sendRequest(client);
          isQuiet = false;
        }
      }
      if (isQuiet) return;
    }
    throw new Error("nobody stops talking");
  }

  /** What a client should hold of a type. */
  expected(client: ModelClient, type: TypeUrl): ReadonlyMap<string, Resource> {
    const held = client.types.get(type);
    const view = VIEWS[this.#viewOf.get(client) ?? 0] ?? [];
    const members = [...this.plane.resources(view, type)];
    const isWanted = (one: Resource): boolean => held?.isWildcard === true || held?.names.has(one.name) === true;
    return new Map(members.filter(isWanted).map((one) => [one.name, one]));
  }

  #commit(numbers: readonly number[]): void {
    const changes = new Map<string, LayerChange>();
    for (let i = 0; i + 2 < numbers.length; i += 3) {
      const [x = 0, y = 0, z = 0] = numbers.slice(i, i + 3);
      const layer = LAYERS[x % 4] ?? "base";
      const type = TYPES[y % 4] ?? CLUSTER;
      const name = NAMES[z % 3] ?? "a";
      const label = String((z >> 2) % 3);
      const isDelete = (y >> 2) % 3 === 0;
      changes.set(
        layer,
        isDelete ? { layer, deletes: [{ type, name }] } : { layer, puts: [resource(type, name, label)] },
      );
    }
    this.#perform(this.plane.on({ kind: "transaction-committed", transaction: { changes: [...changes.values()] } }));
  }

  #move(client: ModelClient, to: number): void {
    this.#viewOf.set(client, to % VIEWS.length);
    const views = new Map([...this.clients].map((one, i) => [String(i), VIEWS[this.#viewOf.get(one) ?? 0] ?? []]));
    this.#perform(this.plane.on({ kind: "placement-changed", placement: (node) => views.get(node.id) ?? [] }));
  }

  #connect(client: ModelClient): void {
    const old = this.#streamOf.get(client);
    if (old !== undefined) this.#perform(this.plane.on({ kind: "stream-closed", stream: old }));
    const stream = ++this.#lastStream;
    this.#streamOf.set(client, stream);
    const { variant } = client;
    this.#perform(
      this.plane.on({ kind: "stream-opened", stream, variant, onlyType: undefined, peer, connection: stream }),
    );
    client.connect();
  }

  #sendRequest(client: ModelClient): void {
    const request = client.outbox.shift();
    const stream = this.#streamOf.get(client);
    if (request === undefined || stream === undefined) return;
    const node = {
      id: String(this.clients.indexOf(client)),
      cluster: "",
      locality: undefined,
      metadata: {},
      userAgentName: "",
      userAgentVersion: "",
      clientFeatures: [],
    };
    this.#perform(this.plane.on({ kind: "request-received", stream, request: { ...request, node } }));
  }

  #turns(budget: number): void {
    this.#perform(this.plane.next(budget));
  }

  #fireTimer(): void {
    const timer = this.#timers.shift();
    if (timer !== undefined) this.#perform(this.plane.on({ kind: "timer-fired", timer }));
  }

  #perform(effects: readonly PlaneEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "send") {
        this.#sends++;
        this.#clientOf(effect.stream)?.hear(effect);
      } else if (effect.kind === "start-timer") this.#timers.push(effect.timer);
      else if (effect.kind === "close-stream") {
        const client = this.#clientOf(effect.stream);
        if (client !== undefined) this.#connect(client);
      }
    }
  }

  #clientOf(stream: StreamId): ModelClient | undefined {
    return this.clients.find((client) => this.#streamOf.get(client) === stream);
  }
}
