import {
  anonymousNode,
  type Deletion,
  type LayerChange,
  type Reference,
  type Resource,
  type TypeUrl,
  type Variant,
} from "@xdskit/protocol";
import {
  type Remembered,
  type ServerEffect,
  type ServerEvent,
  ServerMachine,
  type StreamId,
} from "@xdskit/protocol/internal";
import { ModelEnvoy } from "./model-envoy.ts";
import {
  CLUSTER,
  digest,
  ENDPOINTS,
  HOST,
  LISTENER,
  ROUTE,
  resource,
  SCOPE,
  traits,
  traitsWithPlaceholders,
} from "./resources.ts";

/** One thing that happens, with two numbers that say to what. */
export type MeshStep = readonly [
  what: "change" | "request" | "take" | "turn" | "break" | "reset" | "restart" | "second" | "quarter",
  a: number,
  b: number,
];

/** Waits that are part of the order; longer ones end what does not come. */
const SHORT_MS = 1_000;
/** In which streams of their own all come back. */
const GRACE_MS = 10_000;
const TYPES: readonly TypeUrl[] = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];
const CLUSTERS = ["a", "b", "c"];
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

/** What is out of the ordinary. */
export interface MeshOptions {
  readonly makeBeforeBreak: boolean;
  /** The client refuses routes now and then. */
  readonly refusals?: boolean;
  /** The endpoints of new Clusters come later than the Clusters and what uses them. */
  readonly lateEndpoints?: boolean;
  /** Instead of endpoints that do not exist the client is sent an empty list. */
  readonly placeholders?: boolean;
  /** Clusters change the names under which they ask for their endpoints. */
  readonly renamesEndpoints?: boolean;
  /** No Cluster is ever deleted. */
  readonly keepsClusters?: boolean;
  /** A server that is started anew knows nothing of the one before. */
  readonly forgets?: boolean;
  /**
   * There are two servers that are told of each change. In place of a server that is started anew, the client goes to the
   * other one.
   */
  readonly replicas?: boolean;
  /** Each resource of an answer that may be split comes in a response of its own. */
  readonly splits?: boolean;
  /** Now and then the Listener uses scopes, or routes with virtual hosts of their own, which are there only then. */
  readonly visits?: "scopes" | "hosts";
}

/** A server, and the timers that it waits for, by their ids. */
interface Served {
  readonly machine: ServerMachine;
  readonly timers: Map<number, number>;
  /** The client was here before. */
  isKnown: boolean;
}

/** One Envoy, one server or two, and a configuration of Listeners, routes, Clusters and endpoints that always fits together. */
export class Mesh {
  readonly envoy: ModelEnvoy;
  readonly #how: MeshOptions;
  #server: Served;
  #other: Served | undefined;
  /** What the server was asked to remember. */
  #remembered: Remembered[] = [];
  readonly #refuses: boolean;
  readonly #streams: Map<TypeUrl, StreamId>;
  readonly #isLate: boolean;
  readonly #renames: boolean;
  readonly #types: readonly TypeUrl[];
  /** Not with virtual hosts: only Envoy has them. */
  readonly #acksFirst: boolean;
  #lastStream: number;
  /** The server was not asked for Clusters yet, and knows nothing of the one before. */
  #isStranger = false;
  /** The client told what it holds of something since the connection broke. */
  #hasListed = false;
  #connection = 1;
  #target: readonly Resource[] = [];
  /** Endpoints that the next change brings, or the end. */
  #late: readonly Resource[] = [];

  constructor(variant: Variant, isAggregated: boolean, how: MeshOptions) {
    this.#how = how;
    this.#refuses = how.refusals ?? false;
    this.#isLate = how.lateEndpoints ?? false;
    this.#renames = how.renamesEndpoints ?? false;
    this.#server = this.#start();
    this.#other = how.replicas === true ? this.#start() : undefined;
    this.#acksFirst = how.visits !== "hosts";
    this.#types = how.visits === undefined ? TYPES : [...TYPES, how.visits === "scopes" ? SCOPE : HOST];
    this.envoy = new ModelEnvoy(variant, isAggregated, { types: this.#types });
    this.#streams = new Map(this.#types.map((type, i) => [type, isAggregated ? 1 : i + 1]));
    this.#lastStream = this.#types.length;
    if (isAggregated) this.#open(1, undefined);
    else for (const [type, stream] of this.#streams) this.#open(stream, type);
    this.#change(0, 0);
  }

  step([what, a, b]: MeshStep): void {
    if (what === "change") this.#change(a, b);
    else if (what === "request") this.#send(this.#streamAt(a));
    else if (what === "turn") this.#perform(this.#server.machine.next(1 + (a % 4)));
    else if (what === "break") this.#break(a % 2 === 1);
    else if (what === "reset") this.#reset(this.#streamAt(a));
    else if (what === "restart") this.#restart(a, b);
    else if (what === "second") this.#idle();
    else if (what === "quarter") this.passQuarter();
    else {
      this.envoy.take(this.#streamAt(a), {
        refusesRoutes: this.#refuses && b % 4 === 0,
        acksFirst: this.#acksFirst && b % 2 === 1,
      });
    }
  }

  /** Everything arrives and is accepted, until nobody has anything to say. */
  settle(): void {
    if (this.#late.length > 0) this.#bringLate();
    let patience = 10;
    do this.exchange(this.envoy.inboxes.keys());
    while (patience-- > 0 && this.#passTime());
  }

  /** What is said on some of the streams arrives and is accepted, until nobody has anything to say there. */
  exchange(streams: Iterable<string>): void {
    const open = [...streams];
    for (let round = 0; round < 1_000; round++) {
      this.#perform(this.#server.machine.next(100));
      let isQuiet = !this.#server.machine.isDue;
      for (const stream of open) {
        while (this.#send(stream)) isQuiet = false;
        if (this.envoy.take(stream)) isQuiet = false;
      }
      if (isQuiet) return;
    }
    throw new Error("nobody stops talking");
  }

  /** A second goes by: what is waited for no longer than that ends. */
  passSecond(): void {
    const ending = [...this.#server.timers].filter(([, ms]) => ms <= SHORT_MS);
    for (const [timer] of ending) if (this.#server.timers.delete(timer)) this.#fire(timer);
  }

  /** A quarter of a minute goes by: everything arrives, and Envoy warms no longer what has no endpoints until now. */
  passQuarter(): void {
    this.exchange(this.envoy.inboxes.keys());
    this.envoy.stopWarming((name) => this.#hasEndpoints(name) && !this.#late.some((one) => one.name === name));
    this.exchange(this.envoy.inboxes.keys());
  }

  /** A stream of its own may come back seconds after its siblings; what is asked for on one stream comes at once. */
  #idle(): void {
    const isAsking = (this.envoy.outboxes.get("ads")?.length ?? 0) > 0;
    if (!isAsking && !this.#looksNew) this.passSecond();
  }

  /**
   * A server that knows nothing of the one before was not asked for Clusters yet, and the client has listed nothing on its
   * new streams: that it came back nobody can know, and it is waited for no longer than a second (docs/decisions/0130).
   */
  get #looksNew(): boolean {
    return this.#isStranger && !this.#hasListed;
  }

  /** What a client that holds everything it should has. */
  get target(): Readonly<Record<string, string>> {
    const is = (type: TypeUrl): readonly Resource[] => this.#target.filter((one) => one.type === type);
    const asked = new Set(
      [...is(LISTENER), ...is(SCOPE)].flatMap((one) => one.references.map((reference) => reference.name)),
    );
    return Object.fromEntries([
      ...is(CLUSTER).map((one) => [`cluster ${one.name}`, one.version]),
      ...is(LISTENER).map((one) => [`listener ${one.name}`, one.version]),
      ...is(ROUTE).flatMap((one) => (asked.has(one.name) ? [[`route ${one.name}`, one.version]] : [])),
      ...is(ENDPOINTS).map((one) => [`endpoints ${one.name}`, one.version]),
      ...is(SCOPE).map((one) => [`scope ${one.name}`, one.version]),
      ...is(HOST).map((one) => [`host ${one.name}`, one.version]),
    ]);
  }

  #hasEndpoints(name: string): boolean {
    return this.#target.some((one) => one.type === ENDPOINTS && one.name === name);
  }

  #start(): Served {
    const dialect = {
      makeBeforeBreak: this.#how.makeBeforeBreak,
      separateResumeGraceMs: GRACE_MS,
      ...(this.#how.splits === true ? { maxResponseBytes: 1, maySplit: { otherwise: true } } : {}),
    };
    const known = this.#how.placeholders === true ? traitsWithPlaceholders : traits;
    const machine = new ServerMachine({ digest, traits: known, nodeMapping: () => ["base"], dialect, remembers: true });
    return { machine, timers: new Map(), isKnown: false };
  }

  /** The connection breaks; each stream comes back when the client gets to it. */
  #break(isTurnedRound: boolean): void {
    for (const stream of this.#streams.values()) this.#tell({ kind: "stream-closed", stream });
    for (const type of this.#streams.keys()) this.#streams.set(type, 0);
    this.#connection++;
    this.#hasListed = false;
    this.envoy.break(isTurnedRound);
  }

  /** One stream is reset; the others go on. */
  #reset(name: string): void {
    const onlyType = this.#types.find((one) => one === name);
    if (onlyType === undefined) {
      this.#break(false);
      return;
    }
    this.#tell({ kind: "stream-closed", stream: this.#streams.get(onlyType) ?? 0 });
    this.#streams.set(onlyType, 0);
    this.envoy.reset(onlyType);
  }

  /** The server is killed, and another one comes up with another configuration; or the client goes to one that is there. */
  #restart(a: number, b: number): void {
    this.#break((a & 1) === 1);
    if (this.#other !== undefined) {
      [this.#server, this.#other] = [this.#other, this.#server];
      this.#isStranger = !this.#server.isKnown;
      return;
    }
    this.#server = this.#start();
    const isForgetful = this.#how.forgets === true;
    this.#isStranger = isForgetful;
    const remembered = isForgetful ? [] : this.#remembered;
    this.#tell({ kind: "history-restored", remembered });
    this.#target = [];
    this.#late = [];
    this.#change(a, b);
  }

  /** Another configuration, in one transaction: which Clusters there are, what the routes and the Listener use. */
  #change(a: number, b: number): void {
    const keepsClusters = this.#how.keepsClusters === true;
    const names = CLUSTERS.filter((_, i) => keepsClusters || ((a & 7) | (1 << (b % 3))) & (1 << i));
    const pick = (n: number): Reference => ({ type: CLUSTER, name: names[n % names.length] ?? "a" });
    const usesRoutes = (b & 3) !== 3;
    const route = (b & 4) === 0 ? "r1" : "r2";
    const listenerRefs: readonly Reference[] = usesRoutes ? [{ type: ROUTE, name: route }] : [pick(a >> 3)];
    const describe = (refs: readonly Reference[]): string => refs.map((one) => one.name).join("+");
    const { visits } = this.#how;
    const visited = visits !== undefined && (b & 32) === 32 ? this.#visited(visits, pick(a >> 3)) : undefined;
    const endpointsOf = (name: string): string =>
      this.#renames ? `${name}${(a >> (3 + CLUSTERS.indexOf(name))) & 3}` : name;
    const next = [
      ...names.map((name) => {
        const references = [{ type: ENDPOINTS, name: endpointsOf(name) }];
        return resource(CLUSTER, name, `${(a >> 4) & 1} ${endpointsOf(name)}`, { references });
      }),
      ...names.map((name) => resource(ENDPOINTS, endpointsOf(name), "e")),
      ...["r1", "r2"].map((name, i) => {
        const references = [pick((a >> 3) + i * (b >> 4))];
        return resource(ROUTE, name, describe(references), { references });
      }),
      ...(visited ?? [
        resource(LISTENER, (b & 24) === 24 ? "m" : "l", describe(listenerRefs), { references: listenerRefs }),
      ]),
    ];
    const key = ({ type, name }: Deletion): string => `${type} ${name}`;
    const kept = new Set(next.map(key));
    const deletes = this.#target.filter((one) => !kept.has(key(one))).map(({ type, name }) => ({ type, name }));
    const known = new Set(this.#target.map(key));
    const isLate = (one: Resource): boolean => this.#isLate && one.type === ENDPOINTS && !known.has(key(one));
    if (this.#late.length > 0) this.#bringLate();
    this.#late = this.#target.length === 0 ? [] : next.filter(isLate);
    this.#target = next;
    const puts = next.filter((one) => !this.#late.includes(one));
    const changes = [{ layer: "base", puts, deletes }];
    this.#commit(changes);
  }

  /** A Listener that uses scopes, or routes with virtual hosts of their own, with these. */
  #visited(visits: "scopes" | "hosts", cluster: Reference): readonly Resource[] {
    if (visits === "scopes")
      return [
        resource(SCOPE, "z", "r1", { references: [{ type: ROUTE, name: "r1" }] }),
        resource(LISTENER, "l", "scopes", { references: [{ type: SCOPE, name: "*" }] }),
      ];
    return [
      resource(ROUTE, "r3", "hosts", { references: [{ type: HOST, name: "r3/" }] }),
      resource(HOST, "r3/h", cluster.name, { references: [cluster] }),
      resource(LISTENER, "l", "r3", { references: [{ type: ROUTE, name: "r3" }] }),
    ];
  }

  #commit(changes: readonly LayerChange[]): void {
    for (const server of [this.#server, this.#other]) {
      if (server !== undefined) this.#tell({ kind: "transaction-committed", transaction: { changes } }, server);
    }
  }

  #bringLate(): void {
    const changes = [{ layer: "base", puts: this.#late }];
    this.#late = [];
    this.#commit(changes);
  }

  #streamAt(n: number): string {
    const streams = [...this.envoy.inboxes.keys()];
    return streams[n % streams.length] ?? "";
  }

  #open(stream: StreamId, onlyType: TypeUrl | undefined): void {
    const { variant } = this.envoy;
    this.#tell({
      kind: "stream-opened",
      stream,
      variant,
      onlyType,
      apiVersion: "v3",
      peer,
      connection: this.#connection,
    });
  }

  #send(from: string): boolean {
    const request = this.envoy.outboxes.get(from)?.shift();
    if (request === "reopens") {
      const onlyType = this.#types.find((one) => one === from);
      this.envoy.closed.delete(from);
      this.#lastStream++;
      for (const type of onlyType === undefined ? this.#types : [onlyType]) {
        this.#tell({ kind: "stream-closed", stream: this.#streams.get(type) ?? 0 });
        this.#streams.set(type, this.#lastStream);
      }
      this.#open(this.#lastStream, onlyType);
      return true;
    }
    const stream = request?.type && this.#streams.get(request.type);
    if (request === undefined || stream === undefined) return false;
    if (request.type === CLUSTER) {
      this.#isStranger = false;
      this.#server.isKnown = true;
    }
    this.#hasListed ||= request.kind === "delta" ? request.initialVersions.size > 0 : request.versionInfo !== undefined;
    const node = { ...anonymousNode, id: "n", userAgentName: "envoy" };
    this.#tell({ kind: "request-received", stream, request: { ...request, node } });
    return true;
  }

  /**
   * The next thing happens that takes time: a second goes by, Envoy has warmed in vain for 15 seconds, streams of their
   * own had half a minute. The limits that would hide a mistake are not used up here.
   */
  #passTime(): boolean {
    return (
      this.#fireTimer(SHORT_MS) ||
      this.envoy.stopWarming((name) => this.#hasEndpoints(name)) ||
      this.#fireTimer(GRACE_MS)
    );
  }

  #fireTimer(upToMs: number): boolean {
    for (const [timer, ms] of this.#server.timers) {
      if (ms > upToMs) continue;
      this.#server.timers.delete(timer);
      this.#fire(timer);
      return true;
    }
    return false;
  }

  #fire(timer: number): void {
    this.#tell({ kind: "timer-fired", timer });
  }

  #tell(event: ServerEvent, server = this.#server): void {
    this.#perform(server.machine.on(event), server);
  }

  #perform(effects: readonly ServerEffect[], { timers } = this.#server): void {
    for (const effect of effects) {
      // What was sent on a stream that is closed by now arrives nowhere.
      if (effect.kind === "send") {
        if (this.#streams.get(effect.body.type) === effect.stream) this.envoy.hear(effect);
      } else if (effect.kind === "start-timer") timers.set(effect.timer, effect.ms);
      else if (effect.kind === "remember") this.#remembered.push(effect.what);
      else if (effect.kind === "cancel-timer") timers.delete(effect.timer);
      else if (effect.kind === "close-stream") throw new Error(effect.status.message);
    }
  }
}
