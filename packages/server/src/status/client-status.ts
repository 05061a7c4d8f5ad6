import type { EnvoyApi } from "@xdskit/envoy-api";
import {
  type ClientConfigWriter,
  type ClientResource,
  createClientConfigWriter,
  decodeClientStatusRequest,
} from "@xdskit/envoy-api/internal";
import { type ApiVersion, anonymousNode, type Node, type Peer, type Resource, type Status } from "@xdskit/protocol";
import {
  type AccessGrant,
  isVisible,
  plainName,
  type ResourceState,
  type StreamId,
  type StreamState,
  statusCode,
} from "@xdskit/protocol/internal";
import type { HubView } from "../hub/hub-view.ts";
import type { DeliveryTimes } from "../observe/deliveries.ts";
import { printableReason } from "../observe/printable.ts";
import { TimedSlices } from "../timed-slices.ts";
import type { MessagePieces } from "../transport/grpc/simple-call.ts";
import { compileNodeMatchers, MatcherError } from "./node-matching.ts";
import { RegexError } from "./regex/part.ts";

export interface ClientStatusOptions {
  readonly api: Pick<EnvoyApi, "redacted">;
  /** Maximum bytes of a response; a larger one is rejected. */
  readonly maxBytes: number;
  readonly view: Pick<HubView, "streams" | "resourceStates" | "layersOf" | "layerHolding" | "grantOf">;
  /** Whether a caller may ask for client status at all. */
  admit(peer: Peer): AccessGrant | Status;
  readonly times: DeliveryTimes;
  /** The clients that other processes serve, for the same request. Absent: there are none. */
  readonly askOthers?: (asked: AskedOthers) => Promise<readonly ClientParts[] | { readonly refused: Status }>;
}

/** A request for the status of clients. */
export interface AskedOthers {
  readonly version: ApiVersion;
  readonly request: Uint8Array;
  readonly peer: Peer;
  readonly resourcesInPart: number;
}

interface Asked {
  readonly by: Peer;
  readonly version: ApiVersion;
  readonly isAskedFor: (node: Node) => boolean;
  readonly withContents: boolean;
  readonly resourcesInPart: number;
}

interface Client {
  readonly node: Node;
  /** What the caller may see of the client. */
  readonly grant: AccessGrant;
  readonly layers: readonly string[];
  readonly streams: StreamState[];
}

/**
 * Serves client status (CSDS) from the data of the admin API (S-CSD-01, B-OBS-04). Blocks the event loop for a few
 * milliseconds at a time and builds one response at a time, which bounds memory by `maxBytes` and unread responses.
 */
export class ClientStatus {
  readonly #options: ClientStatusOptions;
  /** Cache of redacted resources, which clients share. */
  readonly #shown = new WeakMap<Resource, Uint8Array | "hidden">();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ClientStatusOptions) {
    this.#options = options;
  }

  /**
   * Answers an encoded `ClientStatusRequest`, or returns the status that rejects it. Throws a `WireError` on malformed
   * bytes.
   */
  async answer(version: ApiVersion, request: Uint8Array, peer: Peer): Promise<MessagePieces | Status> {
    const clients = await this.answerInParts(version, request, peer, Number.POSITIVE_INFINITY);
    if ("code" in clients) return clients;
    const pieces = clients.flat(2);
    return { pieces, byteLength: pieces.reduce((sum, { byteLength }) => sum + byteLength, 0) };
  }

  /**
   * As `answer`, per client in parts of a limited number of resources: each part is a response of its own, in pieces, and
   * only the client's first one holds its node.
   */
  async answerInParts(
    version: ApiVersion,
    request: Uint8Array,
    peer: Peer,
    resourcesInPart: number,
  ): Promise<readonly ClientParts[] | Status> {
    const here = await this.answerHere(version, request, peer, resourcesInPart);
    const { askOthers, maxBytes } = this.#options;
    if ("code" in here || askOthers === undefined) return here;
    const others = await askOthers({ version, request, peer, resourcesInPart });
    if ("refused" in others) return others.refused;
    const all = [...here, ...others];
    const byteLength = all.flat(2).reduce((sum, piece) => sum + piece.byteLength, 0);
    return byteLength > maxBytes ? tooLarge(maxBytes) : all;
  }

  /** As `answerInParts`, of the clients of this process only. */
  async answerHere(
    version: ApiVersion,
    request: Uint8Array,
    peer: Peer,
    resourcesInPart: number,
  ): Promise<readonly ClientParts[] | Status> {
    const admitted = this.#options.admit(peer);
    if ("code" in admitted) return admitted;
    const { nodeMatchers, excludeResourceContents } = decodeClientStatusRequest(request);
    try {
      const isAskedFor = compileNodeMatchers(nodeMatchers);
      const asked = { by: peer, version, isAskedFor, withContents: !excludeResourceContents, resourcesInPart };
      const made = this.#last.then(() => this.#make(asked));
      this.#last = made.catch(() => undefined);
      return await made;
    } catch (cause) {
      if (!(cause instanceof MatcherError || cause instanceof RegexError)) throw cause;
      return { code: statusCode.INVALID_ARGUMENT, message: `node_matchers: ${cause.message}` };
    }
  }

  async #make(asked: Asked): Promise<readonly ClientParts[] | Status> {
    const slices = new TimedSlices();
    const made: ClientParts[] = [];
    let byteLength = 0;
    for (const client of await this.#clients(asked, slices)) {
      const config = new ConfigParts(asked, client);
      for (const { stream } of client.streams) {
        for (const state of this.#options.view.resourceStates(stream)) {
          if (this.#isShown(client, state)) config.add(this.#describe(stream, state, asked.withContents));
          if (byteLength + config.byteLength > this.#options.maxBytes) return tooLarge(this.#options.maxBytes);
          if (slices.isOver) await slices.next();
        }
      }
      made.push(config.finish());
      byteLength += config.byteLength;
      if (slices.isOver) await slices.next();
    }
    return made;
  }

  /** Groups the streams of each client that the caller may see (S-WRM-12). */
  async #clients({ by, isAskedFor }: Asked, slices: TimedSlices): Promise<Iterable<Client>> {
    const clients = new Map<string, Client | "hidden">();
    for (const state of this.#options.view.streams()) {
      if (slices.isOver) await slices.next();
      const { node = anonymousNode, client: key } = state;
      if (key === undefined || !isAskedFor(node)) continue;
      const client = clients.get(key);
      if (client === undefined) clients.set(key, this.#clientOf(state, by) ?? "hidden");
      else if (client !== "hidden") client.streams.push(state);
    }
    return [...clients.values()].filter((client) => client !== "hidden");
  }

  #clientOf(state: StreamState, by: Peer): Client | undefined {
    const { node = anonymousNode, peer } = state;
    const { view } = this.#options;
    const grant = view.grantOf({ entryPoint: "csds", peer: by, node }, peer);
    const layers = view.layersOf(node, peer);
    return "denied" in grant || "refused" in layers ? undefined : { node, grant, layers, streams: [state] };
  }

  /** What no layer holds any more, or never held, is shown to whom every layer would show it. */
  #isShown({ grant, layers }: Client, { type, name, resource }: ResourceState): boolean {
    if (grant.isWhole) return true;
    const asked = { type, name: plainName(resource?.name ?? name) };
    const holding = resource && this.#options.view.layerHolding(layers, resource);
    return (holding === undefined ? layers : [holding]).every((layer) => isVisible(grant, layer, asked));
  }

  #describe(stream: StreamId, state: ResourceState, withContents: boolean): ClientResource {
    const { type, kind, name, resource, status, isSent, error } = state;
    return {
      type,
      kind,
      name,
      version: resource?.version ?? "",
      status,
      isTold: isSent,
      content: withContents && resource !== undefined ? this.#contentOf(resource) : undefined,
      updatedAt: this.#updatedAt(stream, state),
      details: error === undefined ? undefined : printableReason(error.message),
    };
  }

  #updatedAt(stream: StreamId, { type, status, nonce }: ResourceState): number | undefined {
    const times = this.#options.times.type(stream, type);
    if (status === "acked") return times?.ackedAt;
    if (status === "nacked") return times?.nackedAt;
    return nonce === undefined ? undefined : times?.sentAtOf(nonce);
  }

  #contentOf(resource: Resource): Uint8Array | undefined {
    let shown = this.#shown.get(resource);
    if (shown === undefined) {
      shown = this.#options.api.redacted(resource.type, resource.bytes) ?? "hidden";
      this.#shown.set(resource, shown);
    }
    return shown === "hidden" ? undefined : shown;
  }
}

function tooLarge(maxBytes: number): Status {
  const message = `the answer would be larger than ${maxBytes} bytes (maxStatusBytes); ask for fewer nodes with node_matchers, or set exclude_resource_contents`;
  return { code: statusCode.RESOURCE_EXHAUSTED, message };
}

/** Distinguishes clients with the same node id by their address. */
function scopeOf({ streams }: Client): string {
  return [...new Set(streams.map(({ peer }) => peer.address))].join(", ");
}

/** The responses of one client, each in pieces. */
export type ClientParts = readonly (readonly Uint8Array[])[];

/** The configuration of one client, in parts. */
class ConfigParts {
  readonly #asked: Asked;
  readonly #parts: (readonly Uint8Array[])[] = [];
  #finishedBytes = 0;
  #open: ClientConfigWriter;
  #count = 0;

  constructor(asked: Asked, client: Client) {
    this.#asked = asked;
    this.#open = createClientConfigWriter(asked.version, { node: client.node, scope: scopeOf(client) });
  }

  get byteLength(): number {
    return this.#finishedBytes + this.#open.byteLength;
  }

  add(resource: ClientResource): void {
    if (this.#count === this.#asked.resourcesInPart) {
      this.#close();
      this.#count = 0;
      this.#open = createClientConfigWriter(this.#asked.version, { node: anonymousNode, scope: "" });
    }
    this.#count++;
    this.#open.add(resource);
  }

  /** Finishes all parts; the last one is still counted as open. */
  finish(): ClientParts {
    this.#parts.push(this.#open.finish());
    return this.#parts;
  }

  #close(): void {
    const part = this.#open.finish();
    this.#parts.push(part);
    this.#finishedBytes += part.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }
}
