import type { Node } from "../node/node.ts";
import { sendingRank } from "../resource/type-kinds.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { ClientTurn } from "./client-turn.ts";
import { ClientTypeStream } from "./client-type-stream.ts";
import type { ClientStreamId } from "./event.ts";
import type { SourceSpec } from "./source.ts";
import type { TypeSubscription } from "./type-subscription.ts";

interface ClientStreamOptions {
  readonly id: ClientStreamId;
  /** The server's index in the source. */
  readonly server: number;
  /** Whether another server answers meanwhile (C-FBK-04). */
  readonly isOutdone: () => boolean;
}

/** One attempt to reach a server, with the types on its stream and the node that was sent. */
export class ClientStream {
  readonly id: ClientStreamId;
  readonly server: number;
  isOpen = false;
  /** Whether a response came on it (C-FBK-01). */
  wasAnswered = false;
  readonly #turn: ClientTurn;
  readonly #spec: SourceSpec;
  readonly #isOutdone: () => boolean;
  readonly #talks = new Map<TypeUrl, ClientTypeStream>();
  #sorted: readonly ClientTypeStream[] | undefined;
  #firstNode: Node | undefined;

  constructor(turn: ClientTurn, spec: SourceSpec, { id, server, isOutdone }: ClientStreamOptions) {
    this.#turn = turn;
    this.#spec = spec;
    this.id = id;
    this.server = server;
    this.#isOutdone = isOutdone;
  }

  /** Whether the server is reached; for polls that is known once one was answered. */
  get isConnected(): boolean {
    return this.isOpen && (this.#spec.access !== "poll" || this.wasAnswered);
  }

  talks(): Iterable<ClientTypeStream> {
    return this.#talks.values();
  }

  /** Returns the types that have a watch. */
  wantedTypes(): readonly TypeUrl[] {
    return [...this.#talks.values()].flatMap(({ topic }) => (topic.interest.wanted > 0 ? [topic.type] : []));
  }

  /**
   * Returns the state of a type on this stream, or of its twin where the dialect accepts one for the other (C-TYP-14).
   */
  talkOf(type: TypeUrl): ClientTypeStream | undefined {
    const talk = this.#talks.get(type);
    if (talk !== undefined || !this.#spec.dialect.acceptTwinTypes) return talk;
    for (const one of this.#talks.values()) if (one.topic.traits.twin === type) return one;
    return undefined;
  }

  /** Adds a type to the stream. */
  join(topic: TypeSubscription): void {
    this.#talks.set(
      topic.type,
      new ClientTypeStream(this.#turn, topic, { server: this.server, isOutdone: this.#isOutdone }),
    );
    this.#sorted = undefined;
  }

  /** The number of types that have a request due. */
  get pending(): number {
    let count = 0;
    for (const talk of this.#talks.values()) if (talk.isDue) count++;
    return count;
  }

  /** Sends the due requests in sending order while tokens last; returns whether all were sent. */
  flush(takeToken: () => boolean): boolean {
    if (!this.isOpen) return true;
    for (const talk of this.#inSendingOrder()) {
      while (talk.isDue) {
        if (!takeToken()) return false;
        this.#send(talk);
      }
    }
    return true;
  }

  /** Stops waiting for responses, because the stream ended. */
  end(): void {
    for (const talk of this.#talks.values()) talk.end();
  }

  #send(talk: ClientTypeStream): void {
    const { request, as, isUrgent } = talk.next();
    const node = this.#nodeFor(talk);
    const urgency = isUrgent ? { isUrgent } : {};
    this.#turn.ask({ kind: "send-request", stream: this.id, request: { ...request, node }, ...urgency });
    if (this.#spec.access === "file") return;
    this.#turn.report({ kind: "request-sent", source: this.#spec.id, type: talk.topic.type, as, node });
  }

  /** @spec C-NOD-01, C-NOD-02, C-MSC-07, C-RST-08 */
  #nodeFor(talk: ClientTypeStream): Node | undefined {
    const { node } = this.#turn;
    const isAlways = this.#spec.nodeIn === "every-request" || this.#spec.access !== "stream";
    const told = talk.node ?? this.#firstNode;
    if (!isAlways && told === node) return undefined;
    this.#firstNode ??= node;
    talk.node = node;
    return node;
  }

  #inSendingOrder(): readonly ClientTypeStream[] {
    this.#sorted ??= [...this.#talks.values()].sort((a, b) => rankOf(a) - rankOf(b));
    return this.#sorted;
  }
}

function rankOf({ topic }: ClientTypeStream): number {
  return sendingRank(topic.traits.kind);
}
