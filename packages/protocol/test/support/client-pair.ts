import type { ClientDialect, Resource, TypeUrl, Variant } from "@xdskit/protocol";
import {
  type ClientEffect,
  type ClientEvent,
  ClientMachine,
  type ClientStreamId,
  type DiscoveryRequest,
  type DiscoveryResponse,
  type HeldResource,
  opaqueTraits,
  type ReceivedResource,
  type ServerEffect,
  type ServerEvent,
  ServerMachine,
  type SourceSpec,
  type StreamId,
  type WatchId,
} from "@xdskit/protocol/internal";
import { change, sourceOf, whole } from "./client-story.ts";
import { node } from "./conversation.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, ROUTE, resource, traits } from "./resources.ts";
import type { Step } from "./world.ts";

export type Send = Extract<ServerEffect, { kind: "send" }>;

const TYPES: readonly TypeUrl[] = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];
const NAMES = ["a", "b", "c"];
const SHORT_MS = 1_000;
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

/** The event of a stream that a client opens. */
export function streamOpened(
  stream: StreamId,
  variant: Variant,
  onlyType: TypeUrl | undefined,
): Extract<ServerEvent, { readonly kind: "stream-opened" }> {
  return { kind: "stream-opened", stream, variant, onlyType, apiVersion: "v3", peer, connection: 1 };
}

/** How the two talk, and what goes wrong. */
export interface PairOptions {
  readonly variant: Variant;
  readonly isAggregated: boolean;
  readonly refusals?: boolean;
  readonly breaks?: boolean;
  /** Resources but Clusters have aliases, and are asked for by them alone. */
  readonly aliases?: boolean;
  readonly maxResponseBytes?: number;
  readonly dialect?: Partial<ClientDialect>;
}

/** A stream between the two, with what is on its way. */
interface Wire {
  readonly stream: ClientStreamId;
  isOpen: boolean;
  readonly requests: DiscoveryRequest[];
  readonly responses: Send[];
  /** The client knows that the first response is there. */
  isJudging: boolean;
}

/** A watch, and what it was told so far. */
interface Follower {
  readonly type: TypeUrl;
  readonly term: string;
  readonly holds: Map<string, string>;
  isSynced: boolean;
  /** It was told of something since it was last answered for. */
  readonly absent: Set<string>;
}

/** Our client's machine and our server's, with a wire between them, driven by a script of numbers. */
export class ClientPair {
  readonly complaints: string[] = [];
  readonly followers = new Map<WatchId, Follower>();
  readonly client: ClientMachine;
  readonly #machine: ServerMachine;
  readonly #options: PairOptions;
  readonly #spec: SourceSpec;
  readonly #wires = new Map<ClientStreamId, Wire>();
  readonly #clientTimers = new Map<number, number>();
  readonly #serverTimers = new Map<number, number>();
  #lastWatch = 0;
  #label = 0;
  #nowMs = 0;

  constructor(options: PairOptions) {
    this.#options = options;
    const { variant, isAggregated, dialect = {}, maxResponseBytes } = options;
    this.#spec = sourceOf({ variant, isAggregated, dialect, backOff: { baseMs: 500, maxMs: 500 } });
    this.client = new ClientMachine({ traits: (type) => traits(type) ?? opaqueTraits(type), node: node("me") });
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
    this.#tell({ kind: "source-added", source: this.#spec });
  }

  step([what, a, b, c]: Step): void {
    const type = TYPES[b % 4] ?? CLUSTER;
    switch (what % 12) {
      case 0:
      case 1:
        this.#commit([[type, c, a]]);
        break;
      case 2:
        this.#commit([
          [type, c, a],
          [TYPES[a % 4] ?? CLUSTER, b, c],
        ]);
        break;
      case 3:
        this.#watch(type, c);
        break;
      case 4:
        this.#stop(a);
        break;
      case 5:
        this.#together(type, a, c);
        break;
      case 6:
      case 7:
        this.#hear(this.#wire(a), c % 3 === 0 && this.#options.refusals === true);
        break;
      case 8:
        this.#ask(this.#wire(a));
        break;
      case 9:
        if (this.#options.breaks === true && b % 3 === 0) this.#break(this.#wire(a));
        else this.#turns(1 + (b % 3));
        break;
      case 10:
        this.#fireClient(c);
        break;
      default:
        if (b % 4 === 0) this.#firePlane();
        else this.#turns(1 + (b % 5));
    }
    this.#checkFollowers();
  }

  /** Everything is put anew, and then some of it is deleted: what was refused before matters no more. */
  refresh(): void {
    const all = TYPES.flatMap((type) => NAMES.map((name) => ({ type, name })));
    const puts = all.map(({ type, name }) => this.#resource(type, name, `fresh${++this.#label}`));
    this.#perform(this.#commitAll({ puts }));
    this.settle();
    this.#perform(this.#commitAll({ deletes: all.filter((_, i) => i % 3 === 0) }));
  }

  /** Everything arrives and is accepted, until nobody has anything to say. */
  settle(): void {
    for (let round = 0; round < 500; round++) {
      this.#turns(100);
      let isQuiet = !this.#machine.isDue;
      for (const wire of [...this.#wires.values()]) {
        while (this.#ask(wire)) isQuiet = false;
        while (this.#hear(wire, false)) isQuiet = false;
      }
      if (isQuiet && !this.#fireBackOff() && !this.#fireShortPlane()) return;
    }
    throw new Error("nobody stops talking");
  }

  /** The time of everything that is waited for is over. */
  wait(): void {
    while (this.#clientTimers.size > 0) this.#fireClient(0);
    this.#checkFollowers();
  }

  stopAll(): void {
    for (const watch of [...this.followers.keys()]) this.#stopWatch(watch);
  }

  /** What each watch should hold, by the view of the server. */
  wanted(follower: Follower): Record<string, string> {
    const members = [...this.#machine.resources(["base"], follower.type)].filter((one) => fits(follower, one));
    return Object.fromEntries(members.map((one) => [one.name, text(one.bytes)]));
  }

  /** What of it a watch holds that the server has no way to take back. */
  cannotBeTakenBack({ type }: Follower): boolean {
    return this.#options.variant === "sotw" && traits(type)?.isFullState !== true;
  }

  /** What is left when nobody watches. */
  get remains(): {
    readonly states: number;
    readonly streams: number;
    readonly wires: number;
    readonly timers: number;
  } {
    const states = [...this.client.states()].length;
    const streams = [...this.#machine.streams()].length;
    return { states, streams, wires: this.#wires.size, timers: this.#clientTimers.size };
  }

  #commit(what: readonly (readonly [TypeUrl, number, number])[]): void {
    const puts: Resource[] = [];
    const deletes: { type: TypeUrl; name: string }[] = [];
    for (const [type, x, y] of what) {
      const name = NAMES[x % 3] ?? "a";
      const isNamed = [...puts, ...deletes].some((one) => one.type === type && one.name === name);
      if (isNamed) continue;
      if (y % 3 === 0) deletes.push({ type, name });
      else puts.push(this.#resource(type, name, String(y % 4)));
    }
    this.#perform(this.#commitAll({ puts, deletes }));
  }

  #resource(type: TypeUrl, name: string, label: string): Resource {
    const hasAlias = this.#options.aliases === true && type !== CLUSTER && label !== "1";
    return resource(type, name, label, hasAlias ? { aliases: [`${name}!`] } : {});
  }

  #commitAll(what: {
    puts?: readonly Resource[];
    deletes?: readonly { type: TypeUrl; name: string }[];
  }): readonly ServerEffect[] {
    const changes = [{ layer: "base", ...what }];
    return this.#machine.on({ kind: "transaction-committed", transaction: { changes } });
  }

  #watch(type: TypeUrl, c: number): void {
    this.#tell(this.#watchStarted(type, c));
  }

  #watchStarted(type: TypeUrl, c: number): ClientEvent {
    const terms = this.#termsOf(type);
    const term = terms[c % terms.length] ?? "*";
    const watch = ++this.#lastWatch;
    this.followers.set(watch, { type, term, holds: new Map(), isSynced: false, absent: new Set() });
    return { kind: "watch-started", watch, source: this.#spec.id, type, term };
  }

  #termsOf(type: TypeUrl): readonly string[] {
    const isByAlias = this.#options.aliases === true && type !== CLUSTER;
    return isByAlias ? NAMES.map((name) => `${name}!`) : ["*", ...NAMES];
  }

  #stop(a: number): void {
    const watches = [...this.followers.keys()];
    const watch = watches[a % watches.length];
    if (watch !== undefined) this.#stopWatch(watch);
  }

  #stopWatch(watch: WatchId): void {
    this.followers.delete(watch);
    this.#tell({ kind: "watch-stopped", watch });
  }

  /** One watch ends as another one begins. */
  #together(type: TypeUrl, a: number, c: number): void {
    const watches = [...this.followers.keys()];
    const watch = watches[a % watches.length];
    if (watch !== undefined) this.followers.delete(watch);
    const stopped: readonly ClientEvent[] = watch === undefined ? [] : [{ kind: "watch-stopped", watch }];
    this.#tell(...stopped, this.#watchStarted(type, c));
  }

  #wire(a: number): Wire | undefined {
    const wires = [...this.#wires.values()];
    return wires[a % wires.length];
  }

  /** A request arrives, or the stream opens. */
  #ask(wire: Wire | undefined): boolean {
    if (wire === undefined) return false;
    if (!wire.isOpen) {
      wire.isOpen = true;
      this.#tell({ kind: "stream-opened", stream: wire.stream });
      return true;
    }
    const request = wire.requests.shift();
    if (request === undefined) return false;
    this.#perform(this.#machine.on({ kind: "request-received", stream: wire.stream, request }));
    return true;
  }

  /** A response arrives, then it is judged. */
  #hear(wire: Wire | undefined, isRefused: boolean): boolean {
    const [send] = wire?.responses ?? [];
    if (wire === undefined || send === undefined) return false;
    const { stream } = wire;
    if (!wire.isJudging) {
      wire.isJudging = true;
      this.#tell({ kind: "response-arrived", stream, type: send.body.type, nonce: send.nonce });
      return true;
    }
    wire.isJudging = false;
    wire.responses.shift();
    const response = responseOf(send);
    const problems = isRefused ? ["no"] : [];
    const before = this.#held();
    this.#tell({ kind: "response-received", stream, response: { ...response, problems } });
    if (isRefused) this.#checkUnused(before);
    else this.#checkApplied(response);
    return true;
  }

  #break(wire: Wire | undefined): void {
    if (wire === undefined) return;
    this.#wires.delete(wire.stream);
    this.#perform(this.#machine.on({ kind: "stream-closed", stream: wire.stream }));
    this.#tell({ kind: "stream-closed", stream: wire.stream, status: { code: 14, message: "broken" } });
  }

  #tell(...events: readonly ClientEvent[]): void {
    const effects = this.client.onAll(events, { nowMs: this.#nowMs, chance: 0.5 });
    for (const effect of effects) this.#performClient(effect);
  }

  #performClient(effect: ClientEffect): void {
    switch (effect.kind) {
      case "open-stream": {
        const { stream, onlyType } = effect;
        this.#wires.set(stream, { stream, isOpen: false, requests: [], responses: [], isJudging: false });
        this.#perform(this.#machine.on(streamOpened(stream, this.#options.variant, onlyType)));
        break;
      }
      case "send-request":
        this.#wires.get(effect.stream)?.requests.push(copyOf(effect.request));
        break;
      case "close-stream":
        this.#wires.delete(effect.stream);
        this.#perform(this.#machine.on({ kind: "stream-closed", stream: effect.stream }));
        break;
      case "start-timer":
        this.#clientTimers.set(effect.timer, this.#nowMs + effect.ms);
        break;
      case "cancel-timer":
        this.#clientTimers.delete(effect.timer);
        break;
      case "notify":
        this.#note(effect);
        break;
      case "report":
      case "source-forgotten":
        break;
    }
  }

  #note({ watch, news }: Extract<ClientEffect, { kind: "notify" }>): void {
    const follower = this.followers.get(watch);
    if (follower === undefined) {
      this.complaints.push("a watch that ended was told something");
      return;
    }
    if (news.kind === "changed") {
      const label = text(news.resource.bytes);
      this.#complainUnless(follower.holds.get(news.name) !== label, `${news.name} changed to what it was`);
      follower.holds.set(news.name, label);
      follower.absent.delete(news.name);
    } else if (news.kind === "absent") {
      follower.holds.delete(news.name);
      follower.absent.add(news.name);
    } else if (news.kind === "synced") {
      this.#complainUnless(!follower.isSynced, "synced was told twice");
      follower.isSynced = true;
    }
  }

  /** What a watch was told makes up what is held for it, at any time. */
  #checkFollowers(): void {
    const all = this.#held();
    for (const follower of this.followers.values()) {
      const held = all.filter((one) => one.type === follower.type && fits(follower, one));
      const expected = shown(held.map(({ name, bytes }) => [name, text(bytes)]));
      this.#complainUnless(shown([...follower.holds]) === expected, `${follower.term} was told otherwise than is held`);
    }
  }

  /** Of a response that was accepted, everything that somebody wants is in force, and nothing that it says is gone. */
  #checkApplied(response: DiscoveryResponse): void {
    for (const follower of this.followers.values()) {
      if (follower.type !== response.type) continue;
      for (const one of response.resources) {
        if (!fits(follower, one) || one.bytes === undefined) continue;
        this.#complainUnless(follower.holds.get(one.name) === text(one.bytes), `${one.name} was left out`);
      }
      for (const name of response.kind === "delta" ? response.removed : []) {
        this.#complainUnless(!follower.holds.has(name), `${name} was not removed`);
      }
    }
  }

  #complainUnless(isFine: boolean, complaint: string): void {
    if (!isFine) this.complaints.push(complaint);
  }

  /** Of a response that was refused nothing is in force. What nobody wants any more may go with the answer to it. */
  #checkUnused(before: readonly HeldResource[]): void {
    const after = this.#held();
    const followers = [...this.followers.values()];
    const isWanted = (one: HeldResource): boolean =>
      followers.some((each) => each.type === one.type && fits(each, one));
    this.#complainUnless(
      after.every((one) => before.includes(one)) && before.every((one) => after.includes(one) || !isWanted(one)),
      "a refused response was used",
    );
  }

  #held(): readonly HeldResource[] {
    return [...this.client.states()].flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
  }

  #perform(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "send") this.#wires.get(effect.stream)?.responses.push(effect);
      else if (effect.kind === "start-timer") this.#serverTimers.set(effect.timer, effect.ms);
      else if (effect.kind === "cancel-timer") this.#serverTimers.delete(effect.timer);
      else if (effect.kind === "close-stream")
        this.complaints.push(`the server ended a stream: ${effect.status.message}`);
    }
  }

  #turns(budget: number): void {
    this.#perform(this.#machine.next(budget));
  }

  #fireClient(c: number): void {
    const timers = [...this.#clientTimers];
    const timer = timers[c % timers.length];
    if (timer === undefined) return;
    this.#clientTimers.delete(timer[0]);
    this.#nowMs = Math.max(this.#nowMs, timer[1]);
    this.#tell({ kind: "timer-fired", timer: timer[0] });
  }

  /** Streams are opened again; what is waited for is not given up. */
  #fireBackOff(): boolean {
    const place = [...this.#clientTimers.values()].findIndex((atMs) => atMs - this.#nowMs < SHORT_MS);
    if (place !== -1) this.#fireClient(place);
    return place !== -1;
  }

  #firePlane(): void {
    const [timer] = this.#serverTimers.keys();
    if (timer !== undefined) this.#fireOfPlane(timer);
  }

  #fireShortPlane(): boolean {
    const [short] = [...this.#serverTimers].find(([, ms]) => ms <= SHORT_MS) ?? [];
    if (short !== undefined) this.#fireOfPlane(short);
    return short !== undefined;
  }

  #fireOfPlane(timer: number): void {
    this.#serverTimers.delete(timer);
    this.#perform(this.#machine.on({ kind: "timer-fired", timer }));
  }
}

/** A request as it leaves: what is held later is no part of it. */
export function copyOf(request: DiscoveryRequest): DiscoveryRequest {
  if (request.kind === "sotw") return request;
  const pairs = [...request.initialVersions];
  return {
    ...request,
    initialVersions: { size: pairs.length, key: undefined, [Symbol.iterator]: () => pairs[Symbol.iterator]() },
  };
}

export function responseOf({ body, nonce }: Send): DiscoveryResponse {
  const resources = body.segments.flatMap(({ puts }) => puts.map((put) => receivedOf(put, body.variant)));
  if (body.variant === "sotw") return whole(body.type, body.version, nonce, resources);
  const removed = body.segments.flatMap((segment) => [...segment.removed, ...segment.missing]);
  return change(body.type, nonce, { resources, removed });
}

function receivedOf({ name, aliases, bytes, version }: Resource, variant: Variant): ReceivedResource {
  const isDelta = variant === "delta";
  return {
    name,
    aliases: isDelta ? aliases : [],
    version: isDelta ? version : "",
    bytes,
    ttlMs: undefined,
  };
}

function fits(
  { term }: Follower,
  { name, aliases }: { readonly name: string; readonly aliases: readonly string[] },
): boolean {
  return term === "*" || term === name || aliases.includes(term);
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function shown(pairs: readonly (readonly [string, string])[]): string {
  return pairs
    .map((pair) => pair.join(":"))
    .sort()
    .join();
}
