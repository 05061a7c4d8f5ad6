import type { Resource, TypeUrl, Variant } from "@xdskit/protocol";
import { type DiscoveryRequest, noInitialVersions, type ServerEffect } from "@xdskit/protocol/internal";
import { sotw } from "./conversation.ts";
import { delta } from "./model-client.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "./resources.ts";

type Send = Extract<ServerEffect, { kind: "send" }>;

interface Held {
  readonly version: string;
  readonly expiresAt: number;
}

/** What it asks for: everything of two types, two names of each of the others. */
const INTERESTS: readonly (readonly [TypeUrl, readonly string[]])[] = [
  [CLUSTER, []],
  [ENDPOINTS, ["a", "b"]],
  [LISTENER, []],
  [ROUTE, ["a", "b"]],
];
const FULL_STATE: ReadonlySet<TypeUrl> = new Set([CLUSTER, LISTENER]);

/** A client that takes at once what it is sent, answers when it likes, and drops what is not confirmed in time. */
export class ExpiringClient {
  readonly variant: Variant;
  /** What a client should never see. */
  readonly complaints: string[] = [];
  readonly #held = new Map<TypeUrl, Map<string, Held>>();
  #unanswered: Send[] = [];

  constructor(variant: Variant) {
    this.variant = variant;
  }

  held(type: TypeUrl): ReadonlyMap<string, Held> {
    return this.#held.get(type) ?? new Map();
  }

  /** The requests that open a stream, with what is held. */
  connect(): readonly DiscoveryRequest[] {
    this.#unanswered = [];
    return INTERESTS.map(([type, names]) => {
      if (this.variant === "sotw") return sotw(type, { names });
      const pairs = [...this.held(type)].map(([name, { version }]) => [name, version] as const);
      const initialVersions = {
        size: pairs.length,
        key: undefined,
        [Symbol.iterator]: () => pairs[Symbol.iterator](),
      };
      return delta(type, {
        subscribe: names,
        initialVersions: pairs.length === 0 ? noInitialVersions : initialVersions,
      });
    });
  }

  hear(send: Send, now: number): void {
    const { body } = send;
    const held = this.#held.get(body.type) ?? new Map<string, Held>();
    this.#held.set(body.type, held);
    const puts = body.segments.flatMap((segment) => segment.puts);
    const listed = new Set(puts.map(({ name }) => name));
    if (this.variant === "sotw" && FULL_STATE.has(body.type))
      for (const name of held.keys()) if (!listed.has(name)) held.delete(name);
    const keep = ({ name, version, ttlMs }: Pick<Resource, "name" | "version" | "ttlMs">): void => {
      const isTimed = body.ttls === "told" && ttlMs !== undefined;
      held.set(name, { version, expiresAt: isTimed ? now + ttlMs : Number.POSITIVE_INFINITY });
    };
    for (const put of puts) keep(put);
    for (const { removed, missing, heartbeats = [] } of body.segments) {
      for (const name of [...removed, ...missing]) held.delete(name);
      for (const heartbeat of heartbeats) {
        if (held.get(heartbeat.name)?.version === heartbeat.version) keep(heartbeat);
        else this.complaints.push(`a heartbeat of ${heartbeat.name}, which it does not hold at that version`);
      }
    }
    this.#unanswered.push(send);
  }

  /** Accepts the oldest response that it has not answered; in State of the World only the newest of a type is answered. */
  answer(): DiscoveryRequest | undefined {
    const send = this.#unanswered.shift();
    if (send === undefined) return undefined;
    const { body, nonce } = send;
    if (this.variant === "delta") return delta(body.type, { nonce });
    const names = INTERESTS.find(([type]) => type === body.type)?.[1] ?? [];
    return sotw(body.type, { nonce, names, versionInfo: body.version });
  }

  /** When the next thing that it holds expires. */
  get nextExpiry(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const held of this.#held.values()) for (const { expiresAt } of held.values()) next = Math.min(next, expiresAt);
    return next;
  }

  /** Drops what was not confirmed in time, and says what that is. */
  expire(now: number): readonly (readonly [TypeUrl, string])[] {
    return [...this.#held].flatMap(([type, held]) =>
      [...held].flatMap(([name, { expiresAt }]) => {
        if (expiresAt > now) return [];
        held.delete(name);
        return [[type, name] as const];
      }),
    );
  }
}
