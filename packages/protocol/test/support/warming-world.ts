import type { Resource, TypeUrl, Variant } from "@xdskit/protocol";
import {
  type ClientEffect,
  type ClientEvent,
  ClientMachine,
  type ClientStreamId,
  type Dependency,
  type DiscoveryRequest,
  type MeshEffect,
  type MeshEvent,
  MeshMachine,
  type MeshNode,
  opaqueTraits,
  type ServerEffect,
  ServerMachine,
  type SourceSpec,
  type StreamId,
} from "@xdskit/protocol/internal";
import { copyOf, responseOf, type Send, streamOpened } from "./client-pair.ts";
import { sourceOf } from "./client-story.ts";
import { node } from "./conversation.ts";
import { flushIfLeftOut } from "./left-out-flush.ts";
import { kindOf, need, ROOT } from "./mesh-play.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, ROUTE, resource, traits } from "./resources.ts";
import type { Step } from "./world.ts";

const NAMES = ["a", "b", "c"];
const SHORT_MS = 1_000;

/** How the clients talk, one for each entry, and what goes wrong. */
export interface WarmingOptions {
  readonly clients: readonly { readonly variant: Variant; readonly isAggregated: boolean }[];
  readonly breaks?: boolean;
  readonly maxResponseBytes?: number;
  /** The flushes that the server leaves out are made, too; it throws if one has an effect. */
  readonly flushesInVain?: boolean;
}

/** A stream, with what is on its way in both directions. */
interface Wire {
  readonly client: WarmingClient;
  /** As the client knows it. */
  readonly id: ClientStreamId;
  readonly stream: StreamId;
  isOpen: boolean;
  readonly requests: DiscoveryRequest[];
  readonly responses: Send[];
}

/**
 * Clients of one node id, each our client's machine with a mesh above it, around our server's machine. Streams are
 * independent: what is sent on one may overtake what was sent on another. No time goes by, so nobody gives up what it
 * waits for.
 */
export class WarmingWorld {
  readonly clients: readonly WarmingClient[];
  readonly #options: WarmingOptions;
  readonly #machine: ServerMachine;
  readonly #timers = new Map<number, number>();
  readonly #wires = new Map<StreamId, Wire>();
  #lastStream = 0;
  #label = 0;

  constructor(options: WarmingOptions) {
    this.#options = options;
    const { maxResponseBytes } = options;
    this.#machine = new ServerMachine({
      digest,
      traits,
      nodeMapping: () => ["base"],
      dialect: {
        separateResumeGraceMs: SHORT_MS,
        orderLimitMs: SHORT_MS,
        ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
      },
    });
    // Of what is referred to, everything is always there.
    this.#put(...[ENDPOINTS, ROUTE].flatMap((type) => NAMES.map((name) => [type, name] as const)));
    this.clients = options.clients.map((spec) => new WarmingClient(spec, (client, effect) => this.#do(client, effect)));
    for (const client of this.clients) client.start();
  }

  step([what, a, b, c]: Step): void {
    const name = NAMES[c % NAMES.length] ?? "a";
    const other = NAMES[b % NAMES.length] ?? "a";
    const wires = [...this.#wires.values()];
    const wire = wires[a % Math.max(1, wires.length)];
    switch (what % 11) {
      case 0:
        this.#put([CLUSTER, name]);
        break;
      case 1:
        this.#put([ENDPOINTS, name]);
        break;
      case 2:
        this.#put([ENDPOINTS, name], [CLUSTER, other]);
        break;
      case 3:
        this.#put([LISTENER, name], [b % 2 === 0 ? CLUSTER : ROUTE, other]);
        break;
      case 4:
        this.#delete(b % 3 === 0 ? LISTENER : CLUSTER, name);
        break;
      case 5:
        this.#turns(1 + (b % 4));
        break;
      case 6:
        if (this.#options.breaks === true && b % 2 === 0) this.#break(wire);
        else this.#turns(1 + (b % 4));
        break;
      case 7:
        this.#ask(wire);
        break;
      case 8:
        this.settle();
        break;
      default:
        this.#hear(wire);
    }
  }

  /** Everything arrives, the newest stream first. */
  settle(): void {
    for (let round = 0; round < 500; round++) {
      this.#turns(100);
      let isQuiet = !this.#machine.isDue;
      for (const wire of [...this.#wires.values()].reverse()) {
        while (this.#ask(wire)) isQuiet = false;
        while (this.#hear(wire)) isQuiet = false;
      }
      const hasFired = this.clients.map((client) => client.fireBackOff()).includes(true);
      if (isQuiet && !hasFired && !this.#fireShort()) return;
    }
    throw new Error("nobody stops talking");
  }

  /** What each client ought to have in use. */
  get expected(): Readonly<Record<string, string>> {
    const shown = [CLUSTER, LISTENER].flatMap((type) => [...this.#machine.resources(["base"], type)]);
    const behind = shown.map(({ type, name }) => ({ type: type === CLUSTER ? ENDPOINTS : ROUTE, name }));
    const all = [...this.#machine.resources(["base"], ENDPOINTS), ...this.#machine.resources(["base"], ROUTE)];
    const used = all.filter(({ type, name }) => behind.some((one) => one.type === type && one.name === name));
    return Object.fromEntries(
      [...shown, ...used].map(({ type, name, bytes }) => [`${kindOf(type)} ${name}`, text(bytes)] as const).sort(),
    );
  }

  #put(...what: readonly (readonly [TypeUrl, string])[]): void {
    const puts: Resource[] = what.map(([type, name]) => {
      const references = type === LISTENER ? { references: [{ type: ROUTE, name }] } : {};
      return resource(type, name, String(++this.#label), references);
    });
    this.#commit({ layer: "base", puts });
  }

  #delete(type: TypeUrl, name: string): void {
    this.#commit({ layer: "base", deletes: [{ type, name }] });
  }

  #commit(change: {
    layer: string;
    puts?: readonly Resource[];
    deletes?: readonly { type: TypeUrl; name: string }[];
  }): void {
    this.#perform(this.#machine.on({ kind: "transaction-committed", transaction: { changes: [change] } }));
  }

  #turns(budget: number): void {
    this.#perform(this.#machine.next(budget));
  }

  /** A request arrives, or the stream opens. */
  #ask(wire: Wire | undefined): boolean {
    if (wire === undefined || !this.#wires.has(wire.stream)) return false;
    if (!wire.isOpen) {
      wire.isOpen = true;
      wire.client.take({ kind: "stream-opened", stream: wire.id });
      return true;
    }
    const request = wire.requests.shift();
    if (request === undefined) return false;
    this.#perform(this.#machine.on({ kind: "request-received", stream: wire.stream, request }));
    if (this.#options.flushesInVain === true) flushIfLeftOut(this.#machine, wire.stream);
    return true;
  }

  #hear(wire: Wire | undefined): boolean {
    const send = wire?.responses.shift();
    if (wire === undefined || send === undefined) return false;
    wire.client.take({ kind: "response-received", stream: wire.id, response: responseOf(send) });
    return true;
  }

  #break(wire: Wire | undefined): void {
    if (wire === undefined) return;
    this.#close(wire);
    wire.client.take({ kind: "stream-closed", stream: wire.id, status: { code: 14, message: "broken" } });
  }

  #close(wire: Wire): void {
    this.#wires.delete(wire.stream);
    wire.responses.splice(0);
    this.#perform(this.#machine.on({ kind: "stream-closed", stream: wire.stream }));
  }

  #do(client: WarmingClient, effect: ClientEffect): void {
    const wireOf = (id: ClientStreamId): Wire | undefined =>
      [...this.#wires.values()].find((wire) => wire.client === client && wire.id === id);
    if (effect.kind === "open-stream") {
      const stream = ++this.#lastStream;
      const { stream: id, onlyType } = effect;
      this.#wires.set(stream, { client, id, stream, isOpen: false, requests: [], responses: [] });
      this.#perform(this.#machine.on(streamOpened(stream, client.spec.variant, onlyType)));
    } else if (effect.kind === "send-request") wireOf(effect.stream)?.requests.push(copyOf(effect.request));
    else if (effect.kind === "close-stream") {
      const wire = wireOf(effect.stream);
      if (wire !== undefined) this.#close(wire);
    }
  }

  #perform(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "send") this.#wires.get(effect.stream)?.responses.push(effect);
      else if (effect.kind === "start-timer") this.#timers.set(effect.timer, effect.ms);
      else if (effect.kind === "cancel-timer") this.#timers.delete(effect.timer);
      else if (effect.kind === "close-stream") throw new Error(`the server ended a stream: ${effect.status.message}`);
    }
  }

  /** What a client that came back is given time for is part of the order. */
  #fireShort(): boolean {
    const [timer] = [...this.#timers].find(([, ms]) => ms <= SHORT_MS) ?? [];
    if (timer === undefined) return false;
    this.#timers.delete(timer);
    this.#perform(this.#machine.on({ kind: "timer-fired", timer }));
    return true;
  }
}

/** A client's machine with the mesh that watches by it. */
class WarmingClient {
  readonly spec: SourceSpec;
  readonly #machine: ClientMachine;
  readonly #mesh: MeshMachine;
  readonly #do: (client: WarmingClient, effect: ClientEffect) => void;
  readonly #backOffs = new Set<number>();
  /** Those that an effect raises wait until all of its event are performed. */
  readonly #events: ClientEvent[] = [];
  readonly #nodes = new Map<string, MeshNode>();
  isComplete = false;

  constructor(
    { variant, isAggregated }: WarmingOptions["clients"][number],
    perform: (client: WarmingClient, effect: ClientEffect) => void,
  ) {
    this.spec = sourceOf({ variant, isAggregated, backOff: { baseMs: 500, maxMs: 500 } });
    this.#do = perform;
    this.#machine = new ClientMachine({ traits: (type) => traits(type) ?? opaqueTraits(type), node: node("me") });
    this.#mesh = new MeshMachine({
      kindOf: (type) => traits(type)?.kind ?? "opaque",
      dependenciesOf: ({ type, name }) => dependenciesOf(type, name),
      configuredTypeOf: () => undefined,
      sourceOf: () => this.spec.id,
      followsClusters: false,
      isAggregated: () => this.spec.isAggregated,
      edsCacheOf: () => "on",
      childRemovalOf: () => "retain",
    });
  }

  start(): void {
    this.take({ kind: "source-added", source: this.spec });
    for (const root of [ROOT.clusters, ROOT.listeners]) this.#tell({ kind: "root-added", root });
  }

  /** What is in use, and what goes on warming. */
  get view(): Readonly<Record<string, string>> {
    const nodes = [...this.#nodes.values()].map(({ type, name, resource: held, warming }) => {
      const next = warming === undefined ? "" : `, ${text(warming.bytes)} warms`;
      return [`${kindOf(type)} ${name}`, `${held === undefined ? "nothing" : text(held.bytes)}${next}`] as const;
    });
    return Object.fromEntries(nodes.sort());
  }

  take(event: ClientEvent): void {
    this.#events.push(event);
    if (this.#events.length > 1) return;
    for (let next: ClientEvent | undefined = event; next !== undefined; next = this.#events[0]) {
      for (const effect of this.#machine.on(next, { nowMs: 0, chance: 0.5 })) this.#performOfMachine(effect);
      this.#events.shift();
    }
  }

  #performOfMachine(effect: ClientEffect): void {
    if (effect.kind === "notify") this.#tell({ kind: "news", watch: effect.watch, news: effect.news });
    else if (effect.kind === "start-timer" && effect.ms <= SHORT_MS) this.#backOffs.add(effect.timer);
    else if (effect.kind === "cancel-timer") this.#backOffs.delete(effect.timer);
    else this.#do(this, effect);
  }

  fireBackOff(): boolean {
    const [timer] = this.#backOffs;
    if (timer === undefined) return false;
    this.#backOffs.delete(timer);
    this.take({ kind: "timer-fired", timer });
    return true;
  }

  #tell(event: MeshEvent): void {
    for (const effect of this.#mesh.on(event, { nowMs: 0 })) this.#perform(effect);
  }

  #perform(effect: MeshEffect): void {
    if (effect.kind === "start-watch") {
      const { watch, source, type, term, wantsConfirmations } = effect;
      const wanted = wantsConfirmations ? { wantsConfirmations } : {};
      this.take({ kind: "watch-started", watch, source, type, term, ...wanted });
    } else if (effect.kind === "stop-watch") this.take({ kind: "watch-stopped", watch: effect.watch });
    else if (effect.kind === "warming-ended") this.take({ kind: "warming-ended", source: effect.source });
    else if (effect.kind === "changed") {
      const changes = this.#mesh.takeChanges();
      for (const one of changes?.changed ?? []) this.#nodes.set(one.id, one);
      for (const id of changes?.gone ?? []) this.#nodes.delete(id);
      this.isComplete = changes?.isComplete ?? this.isComplete;
    }
  }
}

/** A Cluster has endpoints of its name, a Listener routes. */
function dependenciesOf(type: TypeUrl, name: string): readonly Dependency[] {
  if (type === CLUSTER) return [need.endpoints(name)];
  return type === LISTENER ? [need.routes(name)] : [];
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
