import { formatTypeUrl, type Resource, type Status, type TypeUrl, type Variant } from "@xdskit/protocol";
import {
  type DiscoveryRequest,
  noInitialVersions,
  type ServerEffect,
  type ServerEvent,
  ServerMachine,
  type StreamId,
} from "@xdskit/protocol/internal";
import { delta, node, sotw } from "./conversation.ts";
import { digest, LISTENER, resource, traits } from "./resources.ts";
import { Work } from "./work.ts";

/** How much there is of everything that a request or a change may come across. */
export interface Sizes {
  /** Names of its type that the client asks for. */
  readonly held: number;
  /** Names of that type that only others ask for. */
  readonly others: number;
  /** Streams of others in the view of the client. */
  readonly streams: number;
  /** Other views, with a layer of their own and a stream each. */
  readonly views: number;
  /** Layers of the view. */
  readonly layers: number;
  /** Other types on the stream. */
  readonly types: number;
  /** Changes that a stream which does not read has still to be told. */
  readonly journal: number;
  /** Names in the request or the change itself. */
  readonly batch: number;
}

export const usual: Sizes = {
  held: 40,
  others: 40,
  streams: 20,
  views: 20,
  layers: 3,
  types: 3,
  journal: 30,
  batch: 8,
};

/** So many names of a set. */
export function names(set: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `${set}/${i}`);
}

/** The stream of the client that is looked at. */
export const me: StreamId = 1;
const STALLED = 2;
const FIRST_OF_OTHERS = 100;
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
/** What the client asks for besides: none of them takes part in an order with the type that is looked at. */
const otherTypes = Array.from({ length: 2 * 3 }, (_, i) => formatTypeUrl(`acme.Other${i}`));

/** Who asks for what on a stream, and where it stands. */
interface Talk {
  readonly variant: Variant;
  readonly wanted: Map<TypeUrl, readonly string[]>;
  readonly newest: Map<TypeUrl, { readonly nonce: string; readonly version: string }>;
}

/** A client among many, whose next word is measured, or a change that comes its way. */
export class Crowd {
  readonly sizes: Sizes;
  readonly type: TypeUrl;
  readonly variant: Variant;
  readonly machine: ServerMachine;
  readonly #work = new Work();
  readonly #talks = new Map<StreamId, Talk>();
  #unanswered: { readonly stream: StreamId; readonly type: TypeUrl }[] = [];
  #sends = 0;
  #polls = 10_000;
  #polled = "";
  #placedAt: readonly string[] = [];

  constructor(type: TypeUrl, variant: Variant, sizes: Sizes) {
    this.type = type;
    this.variant = variant;
    this.sizes = sizes;
    this.machine = new ServerMachine({ digest, traits, nodeMapping: ({ id }) => this.#layersOf(id) });
    const { held, others, batch } = sizes;
    for (const [set, count] of Object.entries({ held, others, batch })) this.put(set, count, "1");
    for (const other of otherTypes) this.commit("base", [resource(other, "x", "1")]);
    for (let i = 0; i < sizes.layers; i++) this.commit(`layer/${i}`, [resource(LISTENER, `l${i}`, "1")]);
    let stream = FIRST_OF_OTHERS;
    const joinOther = (id: string): void => this.join(++stream, ["others/1"], id);
    for (let i = 0; i < sizes.views; i++) {
      this.commit(`view/${i}`, [this.resource("own", "1")]);
      joinOther(`view/${i}`);
    }
    for (let i = 0; i < sizes.streams; i++) joinOther("mine");
    this.join(STALLED, ["others/0", "nobody has it"], "mine");
    this.on({ kind: "stream-stalled", stream: STALLED });
    for (let i = 0; i < sizes.journal; i++) {
      this.put("others", 1, `journal ${i}`);
      this.settle();
    }
    // What is summed up when it is next needed is summed up to here.
    this.put("others", 2, "the last");
    this.settle();
  }

  /** The version of the newest answer to a poll. */
  get polled(): string {
    return this.#polled;
  }

  /** How many steps something takes, and how much is sent. */
  measure(act: (crowd: this) => void): { readonly steps: number; readonly sends: number } {
    this.#sends = 0;
    const steps = this.#work.of(() => {
      act(this);
      this.turns();
    });
    return { steps, sends: this.#sends };
  }

  /** The client comes, asks for something and for other types too, and is answered. */
  enter(wanted: readonly string[]): void {
    this.join(me, wanted);
    for (const type of otherTypes.slice(0, this.sizes.types)) this.hear(this.first(["x"], { type }));
    this.settle();
    // What it asks for is in the index after a change.
    this.put("others", 1, "after it came");
    this.settle();
  }

  join(stream: StreamId, wanted: readonly string[], id = "mine"): void {
    this.open(stream);
    this.hear(this.first(wanted, { stream, id }), stream);
    this.settle();
  }

  open(stream: StreamId): void {
    const { variant } = this;
    this.#talks.set(stream, { variant, wanted: new Map(), newest: new Map() });
    const opened = { kind: "stream-opened", stream, variant, onlyType: undefined, apiVersion: "v3" } as const;
    this.on({ ...opened, peer, connection: stream });
  }

  /** The first request of a type. */
  first(
    wanted: readonly string[],
    { stream = me, id = "mine", type = this.type, initialVersions = noInitialVersions } = {},
  ): DiscoveryRequest {
    const { variant, wanted: all } = this.#talk(stream);
    all.set(type, wanted);
    if (variant === "sotw") return sotw(type, { node: node(id), names: wanted });
    return delta(type, { node: node(id), subscribe: wanted, initialVersions });
  }

  /** Asks for more names, and gives others up. */
  ask(subscribe: readonly string[], unsubscribe: readonly string[] = []): void {
    if (this.variant === "delta") {
      this.hear(delta(this.type, { subscribe, unsubscribe }));
      return;
    }
    const { wanted } = this.#talk(me);
    const given = new Set(unsubscribe);
    wanted.set(
      this.type,
      [...(wanted.get(this.type) ?? []), ...subscribe].filter((one) => !given.has(one)),
    );
    this.answer();
  }

  /** An ACK of the newest response, or a NACK. */
  answer(error?: Status, { stream, type } = { stream: me, type: this.type }): void {
    const { variant, wanted, newest } = this.#talk(stream);
    const { nonce, version } = newest.get(type) ?? {};
    if (variant === "delta") this.hear(delta(type, { nonce, error }), stream);
    else this.hear(sotw(type, { nonce, error, versionInfo: version, names: wanted.get(type) ?? [] }), stream);
  }

  hear(request: DiscoveryRequest, stream = me): void {
    this.on({ kind: "request-received", stream, request });
  }

  /** Asks by REST. */
  poll(wanted: readonly string[], versionInfo?: string): void {
    const request = { ...sotw(this.type, { node: node("mine"), versionInfo }), names: wanted };
    const poll = ++this.#polls;
    const from = { peer, type: this.type, apiVersion: "v3" } as const;
    this.on({ kind: "poll-received", poll, request, holdMs: 1_000, ...from });
    this.turns();
  }

  resource(name: string, label: string, onDemand = false): Resource {
    return this.#work.watch(resource(this.type, name, label, { references: [], onDemand }));
  }

  /** Writes the first names of a set. */
  put(set: string, count: number, label: string, layer = "base"): void {
    const puts = names(set, count).map((name) => this.resource(name, label));
    this.commit(layer, puts);
  }

  commit(layer: string, puts: readonly Resource[], deletes: readonly string[] = []): void {
    const gone = deletes.map((name) => ({ type: this.type, name }));
    this.on({ kind: "transaction-committed", transaction: { changes: [{ layer, puts, deletes: gone }] } });
  }

  /** The view of the client has one more layer, on top. */
  move(layer: string): void {
    this.#placedAt = [layer];
    this.on({ kind: "transaction-committed", nodeMapping: ({ id }) => this.#layersOf(id) });
  }

  turns(): void {
    while (this.machine.isDue) this.#take(this.machine.next(1));
  }

  /** Everybody is told everything and takes it. */
  settle(): void {
    for (this.turns(); this.#unanswered.length > 0; this.turns()) {
      const due = this.#unanswered;
      this.#unanswered = [];
      for (const one of due) this.answer(undefined, one);
    }
  }

  on(event: ServerEvent): void {
    this.#take(this.machine.on(event));
  }

  #take(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "answer-poll") {
        this.#sends++;
        this.#polled = effect.body.version;
      }
      if (effect.kind !== "send") continue;
      this.#sends++;
      const { stream, nonce, body } = effect;
      this.#talk(stream).newest.set(body.type, { nonce, version: body.version });
      this.#unanswered.push({ stream, type: body.type });
    }
  }

  #layersOf(id: string): readonly string[] {
    const shared = Array.from({ length: this.sizes.layers }, (_, i) => `layer/${i}`);
    return [...(id === "mine" ? this.#placedAt : [id]), ...shared, "base"];
  }

  #talk(stream: StreamId): Talk {
    const talk = this.#talks.get(stream);
    if (talk === undefined) throw new Error(`nobody opened stream ${stream}`);
    return talk;
  }
}
