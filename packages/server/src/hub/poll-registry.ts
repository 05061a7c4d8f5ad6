import type { ApiVersion, Peer, Status, TypeUrl } from "@xdskit/protocol";
import type { Body, PollEffect, PollId, SotwRequest } from "@xdskit/protocol/internal";
import type { ConnectionLimits } from "./connection-limits.ts";

/** A poll that came in: one request that is answered once (S-RST-14). */
export interface NewPoll {
  readonly connection: number;
  /** The path, for display. */
  readonly path: string;
  /** The API version of the messages. */
  readonly apiVersion: ApiVersion;
  readonly type: TypeUrl;
  readonly request: SotwRequest;
  /** Size of the request on the wire. */
  readonly bytes: number;
  /** Milliseconds that the server may hold the poll until something changes. */
  readonly holdMs: number;
}

/** The transport side of a poll; the hub calls exactly one method, once, unless the poll was abandoned. */
export interface PollHandle {
  /** Answers with all requested resources. `poller` is the number of the client. */
  answer(body: Body, poller: PollId): void;
  /** Answers that nothing changed. */
  unchanged(): void;
  refuse(status: Status): void;
}

interface OpenPoll {
  readonly peer: Peer;
  readonly handle: PollHandle;
}

/** The polls that wait for a response. */
export class PollRegistry {
  readonly #connectionLimits: ConnectionLimits;
  readonly #polls = new Map<PollId, OpenPoll>();

  constructor(connectionLimits: ConnectionLimits) {
    this.#connectionLimits = connectionLimits;
  }

  has(id: PollId): boolean {
    return this.#polls.has(id);
  }

  /** The client of an open poll. */
  peerOf(id: PollId): Peer | undefined {
    return this.#polls.get(id)?.peer;
  }

  /** Adds a poll that `ConnectionLimits` admitted. */
  open(id: PollId, peer: Peer, handle: PollHandle): void {
    this.#polls.set(id, { peer, handle });
  }

  perform(effect: PollEffect): void {
    const handle = this.take(effect.poll);
    switch (effect.kind) {
      case "answer-poll":
        handle?.answer(effect.body, effect.poller);
        break;
      case "poll-unchanged":
        handle?.unchanged();
        break;
      case "refuse-poll":
        handle?.refuse(effect.status);
        break;
      default:
        effect satisfies never;
    }
  }

  /** Removes a poll and returns its handle, or undefined if it has ended. */
  take(id: PollId): PollHandle | undefined {
    const poll = this.#polls.get(id);
    if (poll === undefined) return undefined;
    this.#polls.delete(id);
    this.#connectionLimits.streamClosed(poll.peer);
    return poll.handle;
  }

  /** Rejects all waiting polls. */
  close(status: Status): void {
    for (const id of [...this.#polls.keys()]) this.take(id)?.refuse(status);
  }
}
