import {
  type DiscoveryRequest,
  type LayerChange,
  type Node,
  Plane,
  type PlaneEffect,
  type PlaneOptions,
  type Resource,
  type SotwRequest,
  type StreamId,
  type TypeUrl,
  type Variant,
} from "@xdskit/protocol";
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

/** What a send says, in short: `a@label`, `-gone`, `?missing`. */
export interface Said {
  readonly stream: StreamId;
  readonly type: TypeUrl;
  readonly nonce: string;
  readonly version: string;
  readonly says: readonly string[];
}

/** A plane, and what it says to one after another. */
export class Conversation {
  readonly plane: Plane;
  /** Everything but sends and reports that was asked for since last looked at. */
  readonly asked: PlaneEffect[] = [];

  constructor(options: Partial<PlaneOptions> = {}) {
    this.plane = new Plane({ digest, traits, placement: () => ["base"], ...options });
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
      this.plane.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", ...change }] } }),
    );
  }

  /** Changes of several layers that take effect together. */
  commit(changes: readonly LayerChange[]): void {
    this.#keep(this.plane.on({ kind: "transaction-committed", transaction: { changes } }));
  }

  open(stream: StreamId, variant: Variant, onlyType?: TypeUrl): void {
    this.#keep(this.plane.on({ kind: "stream-opened", stream, variant, onlyType, peer, connection: 1 }));
  }

  /** Gives a request to the plane, and lets it speak. */
  hear(stream: StreamId, request: DiscoveryRequest): readonly Said[] {
    this.#keep(this.plane.on({ kind: "request-received", stream, request }));
    return this.turns();
  }

  turns(budget = 1_000): readonly Said[] {
    return this.#keep(this.plane.next(budget)).flatMap((effect) => (effect.kind === "send" ? [saidBy(effect)] : []));
  }

  #keep(effects: readonly PlaneEffect[]): readonly PlaneEffect[] {
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

function saidBy({ stream, nonce, body }: Extract<PlaneEffect, { kind: "send" }>): Said {
  const text = new TextDecoder();
  const says = body.segments.flatMap((segment) => [
    ...segment.puts.map((put) => text.decode(put.bytes).replace("=", "@")),
    ...segment.removed.map((name) => `-${name}`),
    ...segment.missing.map((name) => `?${name}`),
  ]);
  return { stream, type: body.type, nonce, version: body.version, says };
}
