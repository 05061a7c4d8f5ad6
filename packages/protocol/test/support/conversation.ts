import type { LayerChange, Node, Peer, Resource, Status, TypeUrl, Variant } from "@xdskit/protocol";
import {
  type Body,
  type DeltaRequest,
  type DiscoveryRequest,
  type Report,
  type ServerEffect,
  type ServerEvent,
  ServerMachine,
  type ServerMachineOptions,
  type SotwRequest,
  type StreamId,
  type StreamOpened,
  statusCode,
} from "@xdskit/protocol/internal";
import { delta } from "./model-client.ts";
import { digest, traits } from "./resources.ts";

/** A client on this host that says nothing of itself. */
export const peer: Peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

export function node(id: string, userAgentName = ""): Node {
  return {
    id,
    cluster: "",
    locality: undefined,
    metadata: {},
    userAgentName,
    userAgentVersion: "",
    clientFeatures: [],
  };
}

/** What a send says, in short: `a@label`, `-gone`, `?missing`, `!failed 13 why`, `a@label 3s` with a ttl, `~a 3s` for a heartbeat. */
export interface Said {
  readonly stream: StreamId;
  readonly type: TypeUrl;
  readonly nonce: string;
  readonly version: string;
  readonly says: readonly string[];
}

/** What a request may say besides its names and the response that it answers. */
export type RequestExtras = Pick<Partial<DeltaRequest>, "node" | "initialVersions" | "hasLocators"> &
  Pick<Partial<SotwRequest>, "versionInfo">;

/** `given a b` with the body, `unchanged` or `refused 7`. */
export interface PollAnswer {
  readonly says: string;
  readonly body?: Body;
}

/** What a client knows of one type on one stream. */
interface Interest {
  names: readonly string[];
  /** Every response, oldest first. */
  readonly sent: Said[];
  /** The newest response that was answered. */
  answered: string | undefined;
  /** The version that was ACKed last. */
  accepted: string | undefined;
}

/**
 * A server machine and its clients. An operator says `put`, `delete`, `change` and `commit`. A client that obeys the protocol says `open`, `subscribe`,
 * `unsubscribe`, `ack`, `nack` and `close` on a stream, whichever its variant, or `poll`; one that does not gives any request to `hear` or `receive`.
 */
export class Conversation {
  readonly machine: ServerMachine;
  /** Everything but sends and reports that was asked for since last looked at. */
  readonly asked: ServerEffect[] = [];
  /** Every report, oldest first. */
  readonly reports: Report[] = [];
  /** What polls were told, by their numbers. */
  readonly answers = new Map<number, PollAnswer>();

  readonly #variants = new Map<StreamId, Variant>();
  readonly #interests = new Map<string, Interest>();
  readonly #timers = new Map<number, number>();
  #lastPoll = 0;

  constructor(options: Partial<ServerMachineOptions> = {}) {
    this.machine = new ServerMachine({ digest, traits, nodeMapping: () => ["base"], ...options });
  }

  put(...puts: readonly Resource[]): void {
    this.change({ puts });
  }

  delete(type: TypeUrl, ...names: readonly string[]): void {
    this.change({ deletes: names.map((name) => ({ type, name })) });
  }

  change(change: {
    layer?: string;
    puts?: readonly Resource[];
    deletes?: readonly { type: TypeUrl; name: string }[];
  }): void {
    this.commit([{ layer: "base", ...change }]);
  }

  /** Changes of several layers that take effect together. */
  commit(changes: readonly LayerChange[]): void {
    this.on({ kind: "transaction-committed", transaction: { changes } });
  }

  open(
    stream: StreamId,
    variant: Variant,
    onlyType?: TypeUrl,
    connection = 1,
    how: Partial<Pick<StreamOpened, "apiVersion" | "needs" | "peer" | "listener">> = {},
  ): void {
    this.#variants.set(stream, variant);
    this.on({ kind: "stream-opened", stream, variant, onlyType, apiVersion: "v3", peer, ...how, connection });
  }

  close(stream: StreamId): void {
    this.on({ kind: "stream-closed", stream });
  }

  /** Asks for these names besides those of before; for everything, if there are none. */
  subscribe(
    stream: StreamId,
    type: TypeUrl,
    names: readonly string[] = [],
    extras: RequestExtras = {},
  ): readonly Said[] {
    if (this.#variants.get(stream) === "delta") return this.hear(stream, delta(type, { subscribe: names, ...extras }));
    return this.list(stream, type, [...new Set([...this.#interest(stream, type).names, ...names])], extras);
  }

  unsubscribe(stream: StreamId, type: TypeUrl, names: readonly string[]): readonly Said[] {
    if (this.#variants.get(stream) === "delta") return this.hear(stream, delta(type, { unsubscribe: names }));
    const left = this.#interest(stream, type).names.filter((name) => !names.includes(name));
    return this.list(stream, type, left);
  }

  /** Asks for these names instead of those of before, in State of the World. */
  list(
    stream: StreamId,
    type: TypeUrl,
    names: readonly string[],
    extras: RequestExtras & Pick<Partial<SotwRequest>, "error"> = {},
  ): readonly Said[] {
    const interest = this.#interest(stream, type);
    interest.names = names;
    const { answered: nonce, accepted: versionInfo } = interest;
    return this.hear(stream, sotw(type, { names, nonce, versionInfo, ...extras }));
  }

  /** Accepts the newest response of a type, or the one with that nonce. */
  ack(stream: StreamId, type: TypeUrl, nonce?: string): readonly Said[] {
    return this.#answer(stream, type, nonce);
  }

  /** Rejects the newest response of a type, or the one with that nonce. */
  nack(stream: StreamId, type: TypeUrl, nonce?: string): readonly Said[] {
    return this.#answer(stream, type, nonce, { code: statusCode.INTERNAL, message: "no" });
  }

  /** Accepts these responses and what follows from that, until nothing does; returns all of them. */
  settle(first: readonly Said[] = this.turns()): readonly Said[] {
    const all: Said[] = [];
    for (let left = first; left.length > 0; ) {
      all.push(...left);
      if (all.length > 1_000) throw new Error(`no end: ${JSON.stringify(all.slice(-4))}`);
      left = left.flatMap(({ stream, type, nonce }) => this.ack(stream, type, nonce));
    }
    return all;
  }

  /** Polls, and returns the number of the poll, by which its answer is in `answers`. */
  poll(
    type: TypeUrl,
    request: Partial<SotwRequest>,
    how: { readonly peer?: Peer; readonly holdMs?: number } = {},
  ): number {
    const poll = ++this.#lastPoll;
    const event = { kind: "poll-received", poll, peer, apiVersion: "v3", type, holdMs: 1_000, ...how } as const;
    this.on({ ...event, request: sotw(type, request) });
    this.turns();
    return poll;
  }

  /** Any other event. */
  on(event: ServerEvent): void {
    this.#keep(this.machine.on(event));
  }

  /** Gives a request to the server machine, and lets it speak. */
  hear(stream: StreamId, request: DiscoveryRequest): readonly Said[] {
    this.on({ kind: "request-received", stream, request });
    return this.turns();
  }

  /** How the newest request was understood, what it settled, and what was odd about it. */
  understood(): string {
    const from = this.reports.findLastIndex((one) => one.kind === "request-classified");
    return this.reports
      .slice(from)
      .flatMap((one) => {
        if (one.kind === "request-classified") return [one.as];
        if (one.kind === "response-acked") return [`acked ${one.nonce}`];
        if (one.kind === "response-nacked") return [`nacked ${one.nonce}: ${one.error.code} ${one.error.message}`];
        return one.kind === "anomaly" ? [one.what] : [];
      })
      .join(", ");
  }

  /** Gives a request to the server machine, and lets it wait for its turn. */
  receive(stream: StreamId, request: DiscoveryRequest): void {
    this.on({ kind: "request-received", stream, request });
  }

  /** The streams that the server ended since `asked` was last emptied, and why. */
  get ended(): readonly (readonly [StreamId, Status])[] {
    return this.asked.flatMap((effect) => (effect.kind === "close-stream" ? [[effect.stream, effect.status]] : []));
  }

  /** The timers that run, and how long each of them does, oldest first. */
  get timers(): ReadonlyMap<number, number> {
    return this.#timers;
  }

  /** Every timer of so many milliseconds goes off. */
  pass(ms: number): readonly Said[] {
    for (const [timer, length] of [...this.#timers]) if (length === ms) this.fire(timer);
    return this.turns();
  }

  /** A timer goes off. */
  fire(timer: number): void {
    this.#timers.delete(timer);
    this.on({ kind: "timer-fired", timer });
  }

  turns(budget = 1_000): readonly Said[] {
    return this.#keep(this.machine.next(budget)).flatMap((effect) => {
      if (effect.kind !== "send") return [];
      const variant = this.#variants.get(effect.stream) ?? effect.body.variant;
      if (effect.body.variant !== variant)
        throw new Error(`a body of ${effect.body.variant} on a stream of ${variant}`);
      const said = saidBy(effect);
      this.#interest(said.stream, said.type).sent.push(said);
      return [said];
    });
  }

  #interest(stream: StreamId, type: TypeUrl): Interest {
    const key = `${stream} ${type}`;
    const known = this.#interests.get(key);
    if (known !== undefined) return known;
    const interest: Interest = { names: [], sent: [], answered: undefined, accepted: undefined };
    this.#interests.set(key, interest);
    return interest;
  }

  #answer(stream: StreamId, type: TypeUrl, nonce: string | undefined, error?: SotwRequest["error"]): readonly Said[] {
    const interest = this.#interest(stream, type);
    const said = nonce === undefined ? interest.sent.at(-1) : interest.sent.find((one) => one.nonce === nonce);
    if (said === undefined) throw new Error(`stream ${stream} was not sent ${nonce ?? "anything"} of ${type}`);
    if (this.#variants.get(stream) === "delta") return this.hear(stream, delta(type, { nonce: said.nonce, error }));
    interest.answered = said.nonce;
    if (error === undefined) interest.accepted = said.version;
    return this.list(stream, type, interest.names, { error });
  }

  #keep(effects: readonly ServerEffect[]): readonly ServerEffect[] {
    for (const effect of effects) {
      if (effect.kind === "start-timer") this.#timers.set(effect.timer, effect.ms);
      if (effect.kind === "cancel-timer") this.#timers.delete(effect.timer);
      if (effect.kind === "poll-unchanged") this.answers.set(effect.poll, { says: "unchanged" });
      if (effect.kind === "refuse-poll") this.answers.set(effect.poll, { says: `refused ${effect.status.code}` });
      if (effect.kind === "answer-poll") {
        const names = effect.body.segments.flatMap((segment) => segment.puts.map(({ name }) => name));
        this.answers.set(effect.poll, { says: ["given", ...names].join(" "), body: effect.body });
      }
    }
    this.reports.push(...effects.flatMap((effect) => (effect.kind === "report" ? [effect.report] : [])));
    this.asked.push(...effects.filter((effect) => effect.kind !== "send" && effect.kind !== "report"));
    return effects;
  }
}

/** A server that has these resources, and one client on stream 1. */
export function talkWith(
  variant: Variant,
  puts: readonly Resource[],
  options: Partial<ServerMachineOptions> = {},
): Conversation {
  const talk = new Conversation(options);
  talk.put(...puts);
  talk.open(1, variant);
  return talk;
}

/** The words of each response. */
export function says(said: readonly Said[]): readonly (readonly string[])[] {
  return said.map((one) => one.says);
}

/** A State of the World request with nothing in it but what is given. */
export function sotw(type: TypeUrl, what: Partial<SotwRequest>): SotwRequest {
  return {
    kind: "sotw",
    type,
    node: undefined,
    nonce: undefined,
    error: undefined,
    versionInfo: undefined,
    names: [],
    ...what,
  };
}

export { delta };

function saidBy({ stream, nonce, body }: Extract<ServerEffect, { kind: "send" }>): Said {
  const text = new TextDecoder();
  const says = body.segments.flatMap((segment) => [
    ...segment.puts.map((put) => `${text.decode(put.bytes).replace("=", "@")}${body.ttls ? seconds(put.ttlMs) : ""}`),
    ...segment.removed.map((name) => `-${name}`),
    ...segment.missing.map((name) => `?${name}`),
    ...(segment.errors ?? []).map(({ name, error }) => `!${name} ${error?.code} ${error?.message}`),
    ...(segment.heartbeats ?? []).map(({ name, ttlMs }) => `~${name}${seconds(ttlMs)}`),
  ]);
  return { stream, type: body.type, nonce, version: body.version, says };
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? "" : ` ${ms / 1000}s`;
}
