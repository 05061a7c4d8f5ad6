import type { LayerChange, NodeMapping, Resource, Status, TypeUrl, Variant } from "@xdskit/protocol";
import {
  type Dialect,
  type DiscoveryRequest,
  finish,
  type ServerEffect,
  ServerMachine,
  type StreamId,
  statusCode,
  type TypeState,
} from "@xdskit/protocol/internal";
import { isWildcardType } from "../../src/dialect/dialect.ts";
import { sotw } from "./conversation.ts";
import { dialectOf, nodeOf, type Speaking } from "./dialects.ts";
import { flushIfLeftOut } from "./left-out-flush.ts";
import { ModelClient } from "./model-client.ts";
import { CLUSTER, digest, ENDPOINTS, failure, LISTENER, ROUTE, resource, traits } from "./resources.ts";

/** One thing that happens: which, and three numbers that say to what. */
export type Step = readonly [what: number, a: number, b: number, c: number];

const { INTERNAL, PERMISSION_DENIED } = statusCode;
const LAYERS = ["base", "group/1", "group/2", "node/1"];
const VIEWS = [["base"], ["group/1", "base"], ["group/2", "base"], ["node/1", "group/1", "base"]];
const TYPES: readonly TypeUrl[] = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];
const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"];
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

/** The ids of pollers that stay in a view begin so. */
const KEPT = "keeps ";

function keptView(id: string): readonly string[] | undefined {
  return id.startsWith(KEPT) ? VIEWS[Number(id.slice(KEPT.length))] : undefined;
}

/** What goes wrong, and what is out of the ordinary. */
export interface Trouble {
  readonly refusals: boolean;
  readonly breaks: boolean;
  readonly moves: boolean;
  readonly trims: boolean;
  /** A stream for each type, on one connection. */
  readonly perType?: boolean;
  /** Two clients have one node id, so their streams count as those of one client; not together with `moves` or `mixed`. */
  readonly twins?: boolean;
  /** Some resources come on demand only. */
  readonly onDemand?: boolean;
  /** Some resources have aliases, and delta clients ask by them: `a!` is one of `a`. */
  readonly aliases?: boolean;
  /** Errors stand in place of some resources. */
  readonly errors?: boolean;
  /** How many names there are of each type, at most eight; three unless given. */
  readonly names?: number;
  /** Resources have versions of the caller's, which may be the same for other content. */
  readonly ownVersions?: boolean;
  /** Clients that come back also list versions that they do not hold, of what they hold and of what they do not. */
  readonly lies?: boolean;
  /** Journals have one line. */
  readonly forgetsAtOnce?: boolean;
  /** What a client that comes back brings along is compared one name a turn. */
  readonly pauses?: boolean;
  /** Answers are split into responses of so many bytes. */
  readonly maxResponseBytes?: number;
  /** How the server speaks to all of them; as the newest edition has it unless given. */
  readonly speaking?: Speaking;
  /** What moves nodes changes resources, too, in one commit. */
  readonly mixed?: boolean;
  /** Clients do not read for a while. */
  readonly stalls?: boolean;
  /** The flushes that the server leaves out are made, too; it throws if one has an effect. */
  readonly flushesInVain?: boolean;
  /** Some requests wait for content that is not at hand, and the later ones of their type with them. */
  readonly withholds?: boolean;
  /** Moved nodes are given their layers one at a time, and nothing is left of that for the commit. */
  readonly placesLater?: boolean;
  /**
   * Which stream is flushed next is up to the script, and does not depend on which became due first; nor is a view another
   * one after the last node left it.
   */
  readonly flushesByName?: boolean;
  /** A change is sent when nobody waits for an answer any more. */
  readonly flushesAskingFirst?: boolean;
  /** Clients ask for a name, give it up and ask for it again before anything was answered. */
  readonly wavers?: boolean;
}

/** Sees what goes back and forth, in the order in which the server machine does. */
export interface Witness {
  connected(client: ModelClient): void;
  heard(client: ModelClient, request: DiscoveryRequest): void;
  said(client: ModelClient, send: Extract<ServerEffect, { kind: "send" }>): void;
  /** Of this type, the view of the client holds these names now. */
  held(client: ModelClient, type: TypeUrl, names: ReadonlySet<string>): void;
}

/** A stream that the server machine ended, and how many lines it was behind in the type in which it was most. */
export interface Ended {
  readonly status: Status;
  readonly linesBehind: number;
}

const SHORT_MS = 1_000;
/** Journal lines kept in a world with tiny limits. */
export const FEW_LINES = 4;

/** Clients of both variants around one server machine, with messages on their way, driven by a script of numbers. */
export class World {
  readonly machine: ServerMachine;
  readonly clients: readonly ModelClient[];
  readonly ended: Ended[] = [];
  readonly dialect: Dialect;
  readonly #trouble: Trouble;
  readonly #witness: Witness | undefined;
  /** By type; an aggregated stream stands for all of them. */
  readonly #streamsOf = new Map<ModelClient, ReadonlyMap<TypeUrl, StreamId>>();
  /** Revisions of the changes of each type in each layer. */
  readonly #changed = new Map<string, number[]>();
  readonly #viewOf = new Map<ModelClient, number>();
  readonly #timers = new Map<number, number>();
  readonly #stalled = new Set<StreamId>();
  /** Requests that wait for content, by type. */
  readonly #withheld = new Map<ModelClient, Map<TypeUrl, DiscoveryRequest[]>>();
  #lastStream = 0;
  #connections = 0;
  #sends = 0;
  /** Where the streams stood before the last transaction. */
  #told: ReadonlyMap<StreamId, readonly TypeState[]> = new Map();

  constructor(trouble: Trouble, witness?: Witness) {
    this.#trouble = trouble;
    this.#witness = witness;
    const { speaking } = trouble;
    this.dialect = dialectOf(speaking);
    this.machine = new ServerMachine({
      editedAtOnce: 1,
      ...(trouble.placesLater === true ? { placedAtOnce: 0 } : {}),
      digest,
      traits,
      nodeMapping: (node) => keptView(node.id) ?? VIEWS[Number(node.id)] ?? [],
      ...(speaking?.edition !== undefined && { edition: speaking.edition }),
      dialect: {
        ...speaking?.dialect,
        separateResumeGraceMs: SHORT_MS,
        orderLimitMs: SHORT_MS,
        ...(trouble.maxResponseBytes === undefined ? {} : { maxResponseBytes: trouble.maxResponseBytes }),
      },
      ...(trouble.pauses === true ? { maxComparedPerTurn: 1 } : {}),
      ...(trouble.trims ? { maxJournalLines: trouble.forgetsAtOnce === true ? 1 : FEW_LINES } : {}),
    });
    const wild = [CLUSTER, LISTENER].map((type) => ({ type, isWildcard: true, names: [], isFullState: true }));
    const named = [CLUSTER, LISTENER].map((type) => ({ type, isWildcard: false, names: ["a"], isFullState: true }));
    const children = [ENDPOINTS, ROUTE].map((type) => ({
      type,
      isWildcard: false,
      names: ["a", "b"],
      isFullState: false,
    }));
    this.clients = (["delta", "sotw"] as const).flatMap((variant) => {
      const { wildcardSticky } = this.dialect;
      const opening = { meansAll: (type: TypeUrl) => this.#meansAll(type, variant), isForGood: wildcardSticky };
      return [
        new ModelClient(variant, [...wild, ...children], opening),
        new ModelClient(variant, [...named, ...children], opening),
      ];
    });
    if (trouble.flushesByName === true) this.#keepViews();
    for (const client of this.clients) {
      this.#viewOf.set(client, this.#nodeOf(client));
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
    if (this.#trouble.placesLater === true && (a + b + c) % 3 === 0) this.#perform(this.machine.placeNext());
    const type = TYPES[b % 4] ?? CLUSTER;
    const asksByAlias = this.#trouble.aliases === true && client.variant === "delta" && c % 2 === 0;
    const name = `${this.#nameOf(c)}${asksByAlias ? "!" : ""}`;
    switch (what % 12) {
      case 0:
      case 1:
        this.#commit([a, b, c]);
        break;
      case 2:
        if (this.#trouble.mixed === true) this.#viewOf.set(client, b % VIEWS.length);
        this.#commit([a, b, c, c + 1, a + c, b + 3], this.#trouble.mixed === true ? this.#mapping() : undefined);
        break;
      case 3:
      case 4:
        if (this.#trouble.withholds === true && b % 3 === 0) this.#release(client);
        this.#sendRequest(client, c % 3 === 0);
        break;
      case 5:
        client.answer(!(this.#trouble.refusals && b % 3 === 0));
        break;
      case 6:
        client.subscribe(type, name);
        if (this.#trouble.wavers === true && a % 8 > 3) {
          client.unsubscribe(type, name);
          client.subscribe(type, name);
        }
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
        else if (this.#trouble.stalls === true && b % 4 === 1) this.#stall(client, c % 2 === 0);
        else this.#turns(1 + (b % 3), c);
        break;
      case 10:
        if (this.#trouble.moves) this.#move(client, b);
        else this.#fireTimer();
        break;
      default:
        if (b % 4 === 0) this.#fireTimer();
        else this.#turns(1 + (b % 5), c);
    }
  }

  /** Every node is given the layers that it is to have. */
  placeAll(): void {
    while (this.machine.isPlacementDue) this.#perform(this.machine.placeNext());
  }

  /** Everything arrives and is accepted, until nobody has anything to say. */
  settle(): void {
    for (const client of this.clients) this.#stall(client, false);
    for (const client of this.clients) this.#release(client);
    for (let round = 0; round < 200; round++) {
      this.#turns(100);
      let isQuiet = !this.machine.isDue;
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
      if (isQuiet && !this.#fireShortTimer()) return;
    }
    throw new Error("nobody stops talking");
  }

  /** Everything in the view of a client, as `type/name version`. */
  viewOf(client: ModelClient): readonly string[] {
    const view = VIEWS[this.#viewOf.get(client) ?? 0] ?? [];
    return TYPES.flatMap((type) => [...this.machine.resources(view, type)]).map(
      (one) => `${one.type}/${one.name} ${one.version}`,
    );
  }

  /** Why a client should know not to hold some names. */
  expectedErrors(client: ModelClient, type: TypeUrl): ReadonlyMap<string, Resource> {
    if (this.dialect.resourceErrors === "off") return new Map();
    const held = client.types.get(type);
    const errors = [...this.machine.resourceErrors(VIEWS[this.#viewOf.get(client) ?? 0] ?? [], type)];
    const isWanted = ({ name }: Resource): boolean => held?.isWildcard === true || held?.names.has(name) === true;
    return new Map(errors.filter(isWanted).map((one) => [one.name, one]));
  }

  /** What a client should hold of a type. */
  expected(client: ModelClient, type: TypeUrl): ReadonlyMap<string, Resource> {
    const held = client.types.get(type);
    const view = VIEWS[this.#viewOf.get(client) ?? 0] ?? [];
    const members = [...this.machine.resources(view, type)];
    const isNamed = (term: string): boolean => held?.names.has(term) === true;
    // Where names are hints nobody is given what comes only to those who name it.
    const ignoresNames = client.variant === "sotw" && this.dialect.ignoreHints;
    const isWanted = (one: Resource): boolean =>
      (held?.isWildcard === true && !one.onDemand) ||
      ([one.name, ...one.aliases].some(isNamed) && !(ignoresNames && one.onDemand));
    return new Map(members.filter(isWanted).map((one) => [one.name, one]));
  }

  #nodeOf(client: ModelClient): number {
    const place = this.clients.indexOf(client);
    return this.#trouble.twins === true ? place - (place % 2) : place;
  }

  #nameOf(number: number): string {
    return NAMES[number % (this.#trouble.names ?? 3)] ?? "a";
  }

  #commit(numbers: readonly number[], nodeMapping?: NodeMapping): void {
    const changes = new Map<string, LayerChange>();
    for (let i = 0; i + 2 < numbers.length; i += 3) {
      const [x = 0, y = 0, z = 0] = numbers.slice(i, i + 3);
      const layer = LAYERS[x % 4] ?? "base";
      const type = TYPES[y % 4] ?? CLUSTER;
      const name = this.#nameOf(z);
      const label = String((z >> 2) % 3);
      const isDelete = (y >> 2) % 3 === 0;
      const onDemand = this.#trouble.onDemand === true && z % 4 === 1;
      const aliases = this.#trouble.aliases === true && label !== "0" ? [`${name}!`] : [];
      const ownVersion = this.#trouble.ownVersions === true ? { version: `v${z % 2}` } : {};
      const isError = this.#trouble.errors === true && z % 5 === 2;
      const put = isError
        ? failure(type, name, z % 2 === 0 ? INTERNAL : PERMISSION_DENIED, label)
        : resource(type, name, label, { onDemand, aliases, ...ownVersion });
      changes.set(layer, isDelete ? { layer, deletes: [{ type, name }] } : { layer, puts: [put] });
      const table = `${layer} ${type}`;
      this.#changed.set(table, [...(this.#changed.get(table) ?? []), this.machine.revision + 1]);
    }
    // Whoever looks at a stream brings it up to date: where nothing is trimmed, nobody looks.
    if (this.#trouble.trims) {
      this.#told = new Map([...this.machine.streams()].map((state) => [state.stream, state.types]));
    }
    const transaction = { changes: [...changes.values()] };
    // Every other transaction is prepared, as a large one is.
    const prepared = this.machine.revision % 2 === 0 ? finish(this.machine.prepare(transaction)) : undefined;
    this.#perform(
      this.machine.on({
        kind: "transaction-committed",
        transaction,
        ...(prepared !== undefined && { prepared }),
        ...(nodeMapping !== undefined && { nodeMapping }),
      }),
    );
    this.#showViews();
  }

  /** Polls once in each view, which is remembered. */
  #keepViews(): void {
    for (const poll of VIEWS.keys()) {
      const request = sotw(CLUSTER, { node: nodeOf(`${KEPT}${poll}`, this.#trouble.speaking) });
      const event = { kind: "poll-received", poll: -1 - poll, peer, type: CLUSTER, apiVersion: "v3" } as const;
      this.machine.on({ ...event, holdMs: 0, request });
    }
    this.machine.next(VIEWS.length);
  }

  /** Naming nothing at first is everything. */
  #meansAll(type: TypeUrl, variant: Variant): boolean {
    const kind = traits(type)?.kind;
    return kind !== undefined && isWildcardType(this.dialect, kind, variant);
  }

  #stall(client: ModelClient, isStalled: boolean): void {
    for (const stream of new Set(this.#streamsOf.get(client)?.values())) {
      if (isStalled) this.#stalled.add(stream);
      else this.#stalled.delete(stream);
      this.#perform(this.machine.on({ kind: isStalled ? "stream-stalled" : "stream-drained", stream }));
    }
  }

  #move(client: ModelClient, to: number): void {
    this.#viewOf.set(client, to % VIEWS.length);
    this.#perform(this.machine.on({ kind: "transaction-committed", nodeMapping: this.#mapping() }));
    this.#showViews();
  }

  #mapping(): NodeMapping {
    const views = new Map([...this.clients].map((one, i) => [String(i), VIEWS[this.#viewOf.get(one) ?? 0] ?? []]));
    return (node) => keptView(node.id) ?? views.get(node.id) ?? [];
  }

  #connect(client: ModelClient): void {
    for (const old of new Set(this.#streamsOf.get(client)?.values())) {
      this.#perform(this.machine.on({ kind: "stream-closed", stream: old }));
    }
    const connection = ++this.#connections;
    const { variant } = client;
    const open = (onlyType: TypeUrl | undefined): StreamId => {
      const stream = ++this.#lastStream;
      this.#perform(
        this.machine.on({ kind: "stream-opened", stream, variant, onlyType, apiVersion: "v3", peer, connection }),
      );
      return stream;
    };
    if (this.#trouble.perType === true) {
      this.#streamsOf.set(client, new Map(TYPES.map((type) => [type, open(type)])));
    } else {
      const stream = open(undefined);
      this.#streamsOf.set(client, new Map(TYPES.map((type) => [type, stream])));
    }
    this.#withheld.delete(client);
    client.connect(this.#trouble.lies === true ? NAMES : []);
    this.#witness?.connected(client);
  }

  #sendRequest(client: ModelClient, isWithheld = false): void {
    const request = client.outbox.shift();
    if (request === undefined) return;
    if (this.#trouble.withholds === true && this.#withhold(client, request, isWithheld)) return;
    this.#receive(client, request);
  }

  /** The first request of a type that waits makes those after it wait. */
  #withhold(client: ModelClient, request: DiscoveryRequest, isWithheld: boolean): boolean {
    const { type } = request;
    const stream = type && this.#streamsOf.get(client)?.get(type);
    if (type === undefined || stream === undefined) return false;
    const types = this.#withheld.get(client) ?? new Map<TypeUrl, DiscoveryRequest[]>();
    const waiting = types.get(type);
    if (waiting === undefined && !isWithheld) return false;
    this.#withheld.set(client, types.set(type, [...(waiting ?? []), request]));
    const named = { ...request, node: nodeOf(String(this.#nodeOf(client)), this.#trouble.speaking) };
    this.#perform(this.machine.on({ kind: "request-withheld", stream, request: named, missing: ["a"] }));
    return true;
  }

  #release(client: ModelClient): void {
    const types = this.#withheld.get(client);
    this.#withheld.delete(client);
    for (const requests of types?.values() ?? []) for (const request of requests) this.#receive(client, request);
  }

  #receive(client: ModelClient, request: DiscoveryRequest): void {
    const stream = request.type && this.#streamsOf.get(client)?.get(request.type);
    if (stream === undefined) return;
    const node = nodeOf(String(this.#nodeOf(client)), this.#trouble.speaking);
    this.#witness?.heard(client, request);
    this.#perform(this.machine.on({ kind: "request-received", stream, request: { ...request, node } }));
    if (this.#trouble.flushesInVain === true && !this.#stalled.has(stream)) flushIfLeftOut(this.machine, stream);
  }

  /** Flushes up to so many streams; `first`: where to begin, if the script says which. */
  #turns(budget: number, first = 0): void {
    if (this.#trouble.flushesByName === true) this.#turnsByName(budget, first);
    else if (this.#trouble.flushesAskingFirst !== true) this.#perform(this.machine.next(budget));
    else {
      for (let left = budget; left > 0; left--)
        this.#perform(this.machine.isAskingDue ? this.machine.nextAsking() : this.machine.next(1));
    }
  }

  #turnsByName(budget: number, first: number): void {
    const streams = [...new Set(this.clients.flatMap((client) => [...(this.#streamsOf.get(client)?.values() ?? [])]))];
    for (let i = 0; i < Math.min(budget, streams.length); i++) {
      const stream = streams[(first + i) % streams.length];
      if (stream !== undefined && !this.#stalled.has(stream)) this.#flushAlone(stream, streams);
    }
  }

  /** Flushes one stream, due or not, while the clients of all others do not read. */
  #flushAlone(stream: StreamId, streams: readonly StreamId[]): void {
    const others = streams.filter((one) => one !== stream && !this.#stalled.has(one));
    for (const one of others) this.#perform(this.machine.on({ kind: "stream-stalled", stream: one }));
    this.#perform(this.machine.on({ kind: "stream-drained", stream }));
    this.#perform(this.machine.next(1));
    for (const one of others) this.#perform(this.machine.on({ kind: "stream-drained", stream: one }));
  }

  #showViews(): void {
    for (const client of this.#witness === undefined ? [] : this.clients) {
      const view = VIEWS[this.#viewOf.get(client) ?? 0] ?? [];
      for (const type of TYPES) {
        const names = [...this.machine.resources(view, type)].map((one) => one.name);
        this.#witness?.held(client, type, new Set(names));
      }
    }
  }

  #fireTimer(): void {
    const [timer] = this.#timers.keys();
    if (timer !== undefined) this.#fire(timer);
  }

  /** What a client that came back is given time for is part of the order; longer waits end what does not come. */
  #fireShortTimer(): boolean {
    const [short] = [...this.#timers].find(([, ms]) => ms <= SHORT_MS) ?? [];
    if (short !== undefined) this.#fire(short);
    return short !== undefined;
  }

  #fire(timer: number): void {
    this.#timers.delete(timer);
    this.#perform(this.machine.on({ kind: "timer-fired", timer }));
  }

  #perform(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "send") {
        this.#sends++;
        const client = this.#clientOf(effect.stream);
        if (client === undefined) continue;
        this.#witness?.said(client, effect);
        client.hear(effect);
      } else if (effect.kind === "start-timer") this.#timers.set(effect.timer, effect.ms);
      else if (effect.kind === "cancel-timer") this.#timers.delete(effect.timer);
      else if (effect.kind === "close-stream") {
        const client = this.#clientOf(effect.stream);
        this.ended.push({ status: effect.status, linesBehind: this.#linesBehind(effect.stream) });
        if (client !== undefined) this.#connect(client);
      }
    }
  }

  #clientOf(stream: StreamId): ModelClient | undefined {
    return this.clients.find((client) => [...(this.#streamsOf.get(client)?.values() ?? [])].includes(stream));
  }

  #linesBehind(stream: StreamId): number {
    const behind = (this.#told.get(stream) ?? []).flatMap(({ type, sentRevision = 0 }) =>
      LAYERS.map((layer) => {
        const revisions = this.#changed.get(`${layer} ${type}`) ?? [];
        return revisions.filter((revision) => revision > sentRevision).length;
      }),
    );
    return Math.max(0, ...behind);
  }
}
