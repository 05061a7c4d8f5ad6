import type { LayerChange, Node, Resource, TypeUrl, Variant } from "@xdskit/protocol";
import {
  type DiscoveryRequest,
  type Report,
  type ServerEffect,
  ServerMachine,
  type ServerMachineOptions,
  type SotwRequest,
  type StreamId,
  type StreamOpened,
} from "@xdskit/protocol/internal";
import { delta } from "./model-client.ts";
import { digest, traits } from "./resources.ts";

const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

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

/** A server machine, and what it says to one after another. */
export class Conversation {
  readonly machine: ServerMachine;
  /** Everything but sends and reports that was asked for since last looked at. */
  readonly asked: ServerEffect[] = [];
  /** Every report, oldest first. */
  readonly reports: Report[] = [];

  readonly #variants = new Map<StreamId, Variant>();

  constructor(options: Partial<ServerMachineOptions> = {}) {
    this.machine = new ServerMachine({ digest, traits, nodeMapping: () => ["base"], ...options });
  }

  put(...puts: readonly Resource[]): void {
    this.change({ puts });
  }

  change(change: {
    layer?: string;
    puts?: readonly Resource[];
    deletes?: readonly { type: TypeUrl; name: string }[];
  }): void {
    this.#keep(
      this.machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", ...change }] } }),
    );
  }

  /** Changes of several layers that take effect together. */
  commit(changes: readonly LayerChange[]): void {
    this.#keep(this.machine.on({ kind: "transaction-committed", transaction: { changes } }));
  }

  open(
    stream: StreamId,
    variant: Variant,
    onlyType?: TypeUrl,
    connection = 1,
    method: Pick<StreamOpened, "apiVersion" | "needs"> = { apiVersion: "v3" },
  ): void {
    this.#variants.set(stream, variant);
    this.#keep(this.machine.on({ kind: "stream-opened", stream, variant, onlyType, ...method, peer, connection }));
  }

  /** Gives a request to the server machine, and lets it speak. */
  hear(stream: StreamId, request: DiscoveryRequest): readonly Said[] {
    this.#keep(this.machine.on({ kind: "request-received", stream, request }));
    return this.turns();
  }

  /** How the newest request was understood, what it settled, and what was odd about it. */
  understood(): string {
    const from = this.reports.findLastIndex((one) => one.kind === "request-understood");
    return this.reports
      .slice(from)
      .flatMap((one) => {
        if (one.kind === "request-understood") return [one.as];
        if (one.kind === "response-acked") return [`acked ${one.nonce}`];
        if (one.kind === "response-nacked") return [`nacked ${one.nonce}: ${one.error.code} ${one.error.message}`];
        return one.kind === "anomaly" ? [one.what] : [];
      })
      .join(", ");
  }

  /** Gives a request to the server machine, and lets it wait for its turn. */
  receive(stream: StreamId, request: DiscoveryRequest): void {
    this.#keep(this.machine.on({ kind: "request-received", stream, request }));
  }

  /** A timer goes off. */
  fire(timer: number): void {
    this.#keep(this.machine.on({ kind: "timer-fired", timer }));
  }

  turns(budget = 1_000): readonly Said[] {
    return this.#keep(this.machine.next(budget)).flatMap((effect) => {
      if (effect.kind !== "send") return [];
      const variant = this.#variants.get(effect.stream) ?? effect.body.variant;
      if (effect.body.variant !== variant)
        throw new Error(`a body of ${effect.body.variant} on a stream of ${variant}`);
      return [saidBy(effect)];
    });
  }

  #keep(effects: readonly ServerEffect[]): readonly ServerEffect[] {
    this.reports.push(...effects.flatMap((effect) => (effect.kind === "report" ? [effect.report] : [])));
    this.asked.push(...effects.filter((effect) => effect.kind !== "send" && effect.kind !== "report"));
    return effects;
  }
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
