import type { Resource, TypeUrl, Variant } from "@xdskit/protocol";
import type { DeltaRequest, DiscoveryRequest, ServerEffect } from "@xdskit/protocol/internal";
import { delta, initialVersionsOf } from "./model-client.ts";
import { CLUSTER, ENDPOINTS, HOST, LISTENER, noEndpoints, ROUTE, SCOPE } from "./resources.ts";

type Send = Extract<ServerEffect, { kind: "send" }>;

/** A Cluster as Envoy has it: the version in use goes on serving while the next one warms. */
interface ClusterState {
  inUse: Resource | undefined;
  warming: Resource | undefined;
  /**
   * What led to it when it was left without endpoints because nobody could tell it of others: its warming ended before
   * Clusters were asked for on a new aggregated stream (docs/decisions/0130).
   */
  excused: ReadonlySet<string>;
}

/** A Listener; the next version takes over when its routes are there. */
interface ListenerState {
  inUse: Resource | undefined;
  warming: Resource | undefined;
}

/** A way that a request can take. */
interface Path {
  readonly is: string;
  /** What names the Cluster: a route, or the Listener. */
  readonly by: string;
  readonly to: string;
}

/** What one type has of its stream. */
interface Conversation {
  names: readonly string[];
  isOpen: boolean;
  nonce: string | undefined;
  version: string | undefined;
}

const TYPES: readonly TypeUrl[] = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];

/**
 * A client that warms Clusters and Listeners as Envoy 1.39 does (client-behaviours A16, B1, B2, B6, B12), and that notices
 * when a request through it would be lost.
 */
export class ModelEnvoy {
  readonly variant: Variant;
  readonly isAggregated: boolean;
  /** What is on its way here, by stream: one for all types, or one for each. */
  readonly inboxes = new Map<string, Send[]>();
  /** What it has to say, by stream. */
  readonly outboxes = new Map<string, (DiscoveryRequest | "reopens")[]>();
  /** Streams that were closed here and that the server still takes for open. */
  readonly closed = new Set<string>();
  /** Types that are asked for again on a new aggregated stream when nothing warms any more. */
  #isHeldBack = false;
  /** Requests that would have been lost, and why. */
  readonly lost: string[] = [];
  readonly #clusters = new Map<string, ClusterState>();
  readonly #endpoints = new Map<string, string>();
  /** Of these, the empty ones. */
  readonly #empty = new Set<string>();
  readonly #listeners = new Map<string, ListenerState>();
  #hadListener = false;
  readonly #routes = new Map<string, Resource>();
  readonly #scopes = new Map<string, Resource>();
  /** It unsubscribed from scopes on the stream that is open. */
  #hasLeftScopes = false;
  /** Virtual hosts, by names that begin with those of their routes. */
  readonly #hosts = new Map<string, Resource>();
  readonly #talks = new Map<TypeUrl, Conversation>();
  /** On an aggregated stream the ACK of Clusters waits until nothing warms. */
  readonly #withheld: string[] = [];

  /** Whether endpoints of a warming Cluster are asked for on the stream of those before, and that is not closed. */
  readonly #keepsStreams: boolean;

  /** Every type that it may ask for. */
  readonly #types: readonly TypeUrl[];

  constructor(
    variant: Variant,
    isAggregated: boolean,
    { keepsStreams = isAggregated, types = TYPES }: { keepsStreams?: boolean; types?: readonly TypeUrl[] } = {},
  ) {
    this.variant = variant;
    this.isAggregated = isAggregated;
    this.#keepsStreams = keepsStreams;
    this.#types = types;
    for (const type of types) {
      this.#talks.set(type, { names: [], isOpen: false, nonce: undefined, version: undefined });
      this.inboxes.set(this.#streamOf(type), []);
      this.outboxes.set(this.#streamOf(type), []);
    }
    this.#open(CLUSTER);
  }

  /** What it holds and uses, as `type/name` and version. */
  get holdings(): Readonly<Record<string, string>> {
    const held: Record<string, string> = {};
    for (const [name, { inUse }] of this.#clusters) held[`cluster ${name}`] = inUse?.version ?? "warming";
    for (const [name, { inUse }] of this.#listeners) held[`listener ${name}`] = inUse?.version ?? "warming";
    for (const name of this.#namesOf(ROUTE)) held[`route ${name}`] = this.#routes.get(name)?.version ?? "missing";
    for (const name of this.#namesOf(ENDPOINTS)) held[`endpoints ${name}`] = this.#endpoints.get(name) ?? "missing";
    for (const [name, { version }] of this.#scopes) held[`scope ${name}`] = version;
    for (const [name, { version }] of this.#hosts) held[`host ${name}`] = version;
    return held;
  }

  hear(send: Send): void {
    const stream = this.#streamOf(send.body.type);
    if (!this.closed.has(stream)) this.inboxes.get(stream)?.push(send);
  }

  /**
   * Takes the next response of a stream, or refuses it if it has routes. Returns whether there was one. Envoy asks for what
   * a response names before it accepts the response, gRPC after.
   */
  take(stream: string, how: { readonly refusesRoutes?: boolean; readonly acksFirst?: boolean } = {}): boolean {
    const send = this.inboxes.get(stream)?.shift();
    if (send === undefined) return false;
    const { body, nonce } = send;
    const puts = body.segments.flatMap((segment) => [...segment.puts]);
    const removed = body.segments.flatMap((segment) => [...segment.removed]);
    const talk = this.#talk(body.type);
    talk.nonce = nonce;
    if (how.refusesRoutes === true && body.type === ROUTE) {
      this.#answer(ROUTE, nonce, true);
      return true;
    }
    talk.version = body.version;
    const isWithheld = body.type === CLUSTER && this.isAggregated;
    if (how.acksFirst === true && !isWithheld) this.#answer(body.type, nonce, false);
    if (body.type === CLUSTER) this.#takeClusters(puts, removed);
    else if (body.type === ENDPOINTS) this.#takeEndpoints(puts, removed);
    else if (body.type === LISTENER) this.#takeListeners(puts, removed);
    else if (body.type === ROUTE) this.#takeRoutes(puts);
    else if (talk.isOpen) this.#takeNamed(body.type === SCOPE ? this.#scopes : this.#hosts, puts, removed);
    if (isWithheld) this.#withheld.push(nonce);
    else if (how.acksFirst !== true) this.#answer(body.type, nonce, false);
    this.#answerWithheld();
    if (body.type === CLUSTER && !this.#talk(LISTENER).isOpen) this.#open(LISTENER);
    this.#look();
    return true;
  }

  /**
   * The connection broke. Each stream is opened anew in its own time, and asks for everything at once, in no order that
   * could be relied on; but on an aggregated stream not for Clusters while one warms (client-behaviours A16, B11).
   */
  break(turnedRound: boolean): void {
    this.#withheld.length = 0;
    this.#hasLeftScopes = false;
    for (const stream of this.inboxes.keys()) {
      this.inboxes.set(stream, []);
      this.outboxes.set(stream, ["reopens"]);
      this.closed.add(stream);
    }
    const open = this.#types.filter((type) => this.#talk(type).isOpen);
    for (const type of open) this.#talk(type).nonce = undefined;
    this.#isHeldBack = this.isAggregated && this.#isWarming;
    for (const type of turnedRound ? open.reverse() : open) {
      if (type !== CLUSTER || !this.#isHeldBack) this.#open(type);
    }
  }

  /** The stream of one type was reset, and is opened anew. */
  reset(type: TypeUrl): void {
    this.inboxes.set(type, []);
    this.outboxes.set(type, ["reopens"]);
    this.closed.add(type);
    const talk = this.#talk(type);
    talk.nonce = undefined;
    if (talk.isOpen) this.#open(type);
  }

  /** Of Clusters whose endpoints nobody has any more it waits in vain, 15 seconds long. Returns whether there was any. */
  stopWarming(areThere: (endpoints: string) => boolean): boolean {
    const inVain = [...this.#clusters].filter(
      ([, { warming }]) => warming !== undefined && !areThere(endpointsOf(warming)),
    );
    for (const [name, cluster] of inVain) this.#endWarming(name, cluster);
    this.#answerWithheld();
    return inVain.length > 0;
  }

  #takeClusters(puts: readonly Resource[], removed: readonly string[]): void {
    const isFull = this.variant === "sotw";
    const kept = new Set(puts.map((put) => put.name));
    for (const name of isFull ? [...this.#clusters.keys()].filter((each) => !kept.has(each)) : removed) {
      this.#clusters.delete(name);
    }
    const changed: string[] = [];
    for (const put of puts) {
      const known = this.#clusters.get(put.name) ?? { inUse: undefined, warming: undefined, excused: nothing };
      if ((known.warming ?? known.inUse)?.version === put.version) continue;
      known.warming = put;
      this.#clusters.set(put.name, known);
      changed.push(endpointsOf(put));
    }
    this.#want(ENDPOINTS, this.#namesOf(ENDPOINTS), changed);
    for (const name of this.#endpoints.keys())
      if (!this.#namesOf(ENDPOINTS).includes(name)) this.#endpoints.delete(name);
  }

  #takeEndpoints(puts: readonly Resource[], removed: readonly string[]): void {
    for (const put of puts) {
      if (!this.#namesOf(ENDPOINTS).includes(put.name)) continue;
      this.#endpoints.set(put.name, put.version);
      if (isEmpty(put)) this.#empty.add(put.name);
      else this.#empty.delete(put.name);
    }
    for (const name of [...puts.map((put) => put.name), ...removed]) {
      for (const [cluster, state] of this.#clusters)
        if (state.warming !== undefined && endpointsOf(state.warming) === name) this.#endWarming(cluster, state);
    }
  }

  /** What warmed is in use, with endpoints or without. */
  #endWarming(name: string, cluster: ClusterState): void {
    if (this.#isHeldBack)
      cluster.excused = new Set(
        this.#paths()
          .filter(({ to }) => to === name)
          .map(({ by }) => by),
      );
    cluster.inUse = cluster.warming;
    cluster.warming = undefined;
  }

  #takeListeners(puts: readonly Resource[], removed: readonly string[]): void {
    const isFull = this.variant === "sotw";
    const kept = new Set(puts.map((put) => put.name));
    for (const name of isFull ? [...this.#listeners.keys()].filter((each) => !kept.has(each)) : removed) {
      this.#listeners.delete(name);
    }
    for (const put of puts) {
      const known = this.#listeners.get(put.name) ?? { inUse: undefined, warming: undefined };
      if ((known.warming ?? known.inUse)?.version === put.version) continue;
      known.warming = put;
      this.#listeners.set(put.name, known);
    }
    this.#want(ROUTE, this.#namesOf(ROUTE));
    this.#promoteListeners();
  }

  #takeRoutes(puts: readonly Resource[]): void {
    for (const put of puts) if (this.#namesOf(ROUTE).includes(put.name)) this.#routes.set(put.name, put);
    this.#promoteListeners();
  }

  /** Scopes or virtual hosts: it is told of all of them. */
  #takeNamed(held: Map<string, Resource>, puts: readonly Resource[], removed: readonly string[]): void {
    if (this.variant === "sotw") held.clear();
    for (const name of removed) held.delete(name);
    for (const put of puts) held.set(put.name, put);
    this.#promoteListeners();
  }

  #promoteListeners(): void {
    for (const listener of this.#listeners.values()) {
      const { warming } = listener;
      if (warming === undefined || !this.#isReady(warming)) continue;
      listener.inUse = warming;
      listener.warming = undefined;
    }
    this.#openFurther();
    const names = this.#namesOf(ROUTE);
    this.#want(ROUTE, names);
    for (const name of this.#routes.keys()) if (!names.includes(name)) this.#routes.delete(name);
  }

  /** Whether there are the routes of a Listener, the scopes that lead to them and their virtual hosts. */
  #isReady(listener: Resource): boolean {
    if (usesScopes(listener) && this.#scopes.size === 0) return false;
    return this.#routeNamesOf(listener).every((name) => {
      const routes = this.#routes.get(name);
      return routes !== undefined && (!hasHosts(routes) || this.#hostsOf(name).length > 0);
    });
  }

  #routeNamesOf(listener: Resource): readonly string[] {
    const from = usesScopes(listener) ? [...this.#scopes.values()] : [listener];
    return from.flatMap((one) => namesIn(one, ROUTE));
  }

  #hostsOf(routes: string): readonly Resource[] {
    return [...this.#hosts.values()].filter(({ name }) => name.startsWith(`${routes}/`));
  }

  /** Asks for scopes when a Listener uses them, and for virtual hosts when routes do. */
  #openFurther(): void {
    const listeners = [...this.#listeners.values()].flatMap(({ inUse, warming }) => [inUse, warming]);
    const needsScopes = listeners.some((one) => one !== undefined && usesScopes(one));
    if (needsScopes && !this.#talk(SCOPE).isOpen) this.#askForScopes();
    if (!needsScopes && this.#types.includes(SCOPE)) this.#leaveScopes();
    if ([...this.#routes.values()].some(hasHosts) && !this.#talk(HOST).isOpen) this.#open(HOST);
  }

  #askForScopes(): void {
    if (!this.#hasLeftScopes) {
      this.#open(SCOPE);
      return;
    }
    this.#hasLeftScopes = false;
    this.#talk(SCOPE).isOpen = true;
    this.#say(delta(SCOPE, { subscribe: ["*"] }));
  }

  /** In State of the World nobody can unsubscribe from a wildcard; a stream of its own stays open as well. */
  #leaveScopes(): void {
    const talk = this.#talk(SCOPE);
    if (!talk.isOpen || this.variant === "sotw" || !this.isAggregated) return;
    talk.isOpen = false;
    this.#hasLeftScopes = true;
    this.#scopes.clear();
    this.#say(delta(SCOPE, { unsubscribe: ["*"] }));
  }

  #namesOf(type: TypeUrl): readonly string[] {
    const from = type === ROUTE ? this.#listeners : this.#clusters;
    const all = [...from.values()].flatMap(({ inUse, warming }) => [inUse, warming]);
    if (type === ROUTE)
      return [...new Set(all.flatMap((one) => (one === undefined ? [] : this.#routeNamesOf(one))))].sort();
    return [...new Set(all.flatMap((one) => (one === undefined ? [] : namesIn(one, type))))].sort();
  }

  /** Asks for exactly these, and once more for those of warming Clusters: on ADS delta does not (B1, B2). */
  #want(type: TypeUrl, names: readonly string[], again: readonly string[] = []): void {
    const talk = this.#talk(type);
    const before = talk.names;
    const isSame = before.join() === names.join();
    const asksAgain = again.length > 0 && !(this.isAggregated && this.variant === "delta");
    if (isSame && !asksAgain) return;
    if (names.length === 0 && !talk.isOpen) return;
    talk.names = names;
    if (!talk.isOpen) this.#open(type);
    else if (asksAgain && !this.#keepsStreams) this.#reopen(type);
    else if (this.variant === "sotw") this.#say(this.#sotw(type, talk.nonce, undefined));
    else {
      const subscribe = names.filter((name) => !before.includes(name));
      const unsubscribe = before.filter((name) => !names.includes(name));
      this.#say(delta(type, { subscribe, unsubscribe }));
    }
  }

  /** On streams of their own a warming Cluster asks on another stream, and the one before is closed. */
  #reopen(type: TypeUrl): void {
    const stream = this.#streamOf(type);
    this.inboxes.set(stream, []);
    this.outboxes.set(stream, ["reopens"]);
    this.closed.add(stream);
    const talk = this.#talk(type);
    talk.nonce = undefined;
    talk.version = undefined;
    this.#open(type, []);
  }

  #open(type: TypeUrl, held: readonly (readonly [name: string, version: string])[] = this.#heldOf(type)): void {
    const talk = this.#talk(type);
    talk.isOpen = true;
    if (this.variant === "sotw") this.#say(this.#sotw(type, undefined, undefined));
    else this.#say(delta(type, { subscribe: talk.names, initialVersions: initialVersionsOf(held) }));
  }

  /** What it would say it holds, were it to come back now. */
  #heldOf(type: TypeUrl): readonly (readonly [name: string, version: string])[] {
    if (type === ENDPOINTS) return [...this.#endpoints];
    if (type === ROUTE) return [...this.#routes].map(([name, { version }]) => [name, version]);
    if (type === SCOPE || type === HOST)
      return [...(type === SCOPE ? this.#scopes : this.#hosts)].map(([name, { version }]) => [name, version]);
    const held = type === CLUSTER ? this.#clusters : this.#listeners;
    return [...held].flatMap(([name, { inUse, warming }]) => {
      const newest = warming ?? inUse;
      return newest === undefined ? [] : [[name, newest.version] as const];
    });
  }

  get #isWarming(): boolean {
    return [...this.#clusters.values()].some(({ warming }) => warming !== undefined);
  }

  #answer(type: TypeUrl, nonce: string, isRefusal: boolean): void {
    const error = isRefusal ? { code: 13, message: "no" } : undefined;
    if (this.variant === "sotw") this.#say(this.#sotw(type, nonce, error));
    else this.#say(delta(type, { nonce, error }));
  }

  #answerWithheld(): void {
    if (this.#isWarming) return;
    if (this.#isHeldBack) {
      this.#isHeldBack = false;
      this.#open(CLUSTER);
    }
    const nonces = this.#withheld.splice(0);
    for (const nonce of this.variant === "sotw" ? nonces.slice(-1) : nonces) this.#answer(CLUSTER, nonce, false);
  }

  #say(request: DiscoveryRequest): void {
    this.outboxes.get(this.#streamOf(request.type ?? CLUSTER))?.push(request);
  }

  #sotw(type: TypeUrl, nonce: string | undefined, error: DeltaRequest["error"]): DiscoveryRequest {
    const { names, version } = this.#talk(type);
    return { kind: "sotw", type, node: undefined, nonce, error, versionInfo: version, names };
  }

  /** Looks at every path a request can take now. */
  #look(): void {
    if (this.#hadListener && this.#listeners.size === 0) this.lost.push("no Listener");
    this.#hadListener = this.#listeners.size > 0;
    for (const [listener, { inUse }] of this.#listeners) {
      if (inUse !== undefined && usesScopes(inUse) && this.#scopes.size === 0) this.lost.push(`${listener}: no scope`);
      for (const name of inUse === undefined ? [] : this.#routeNamesOf(inUse)) {
        const routes = this.#routes.get(name);
        if (routes !== undefined && hasHosts(routes) && this.#hostsOf(name).length === 0)
          this.lost.push(`${listener} -> ${name}: no virtual host`);
      }
    }
    for (const { is, by, to } of this.#paths()) {
      const why = this.#whyLost(by, to);
      if (why !== undefined) this.lost.push(`${is}: ${why}`);
    }
  }

  /** Every path from a Listener to a Cluster, direct or by a route. */
  #paths(): readonly Path[] {
    return [...this.#listeners].flatMap(([listener, { inUse }]) => {
      const names = inUse === undefined ? [] : this.#routeNamesOf(inUse);
      const routes = names.map((route) => this.#routes.get(route));
      const hosts = names.flatMap((route) => this.#hostsOf(route));
      return [inUse, ...routes, ...hosts].flatMap((user) =>
        user === undefined
          ? []
          : namesIn(user, CLUSTER).map((to) => ({
              is: `${listener} -> ${user.name} -> ${to}`,
              by: `${user.type} ${user.name}`,
              to,
            })),
      );
    });
  }

  #whyLost(by: string, to: string): string | undefined {
    const cluster = this.#clusters.get(to);
    if (cluster === undefined) return "no such cluster";
    if (cluster.inUse === undefined) return "the cluster is warming";
    const endpoints = endpointsOf(cluster.inUse);
    if (this.#endpoints.has(endpoints) && !this.#empty.has(endpoints)) cluster.excused = nothing;
    else if (!cluster.excused.has(by)) return "no endpoints";
    return undefined;
  }

  #talk(type: TypeUrl): Conversation {
    const talk = this.#talks.get(type);
    if (talk === undefined) throw new Error(`the model Envoy does not know ${type}`);
    return talk;
  }

  #streamOf(type: TypeUrl): string {
    return this.isAggregated ? "ads" : type;
  }
}

const nothing: ReadonlySet<string> = new Set();

function namesIn(resource: Resource, type: TypeUrl): readonly string[] {
  return resource.references.filter((reference) => reference.type === type).map((reference) => reference.name);
}

/** A Listener refers to all scopes, or to none. */
function usesScopes(listener: Resource): boolean {
  return namesIn(listener, SCOPE).length > 0;
}

function hasHosts(routes: Resource): boolean {
  return namesIn(routes, HOST).length > 0;
}

function isEmpty({ name, bytes }: Resource): boolean {
  return Buffer.compare(bytes, noEndpoints(name)) === 0;
}

function endpointsOf(cluster: Resource): string {
  return namesIn(cluster, ENDPOINTS)[0] ?? "";
}
