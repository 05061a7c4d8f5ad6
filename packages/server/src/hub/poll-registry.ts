import type { ApiVersion, Peer, Status, TypeUrl } from "@xdskit/protocol";
import type { Body, PollEffect, PollId, SotwRequest } from "@xdskit/protocol/internal";
import type { ConnectionLimits } from "./connection-limits.ts";

/** A poll that came in: one request that is answered once (S-RST-14). */
export interface NewPoll {
  readonly connection: number;
  /** For people. */
  readonly path: string;
  /** The version of the messages. */
  readonly apiVersion: ApiVersion;
  readonly type: TypeUrl;
  readonly request: SotwRequest;
  /** As it came over the wire. */
  readonly bytes: number;
  /** For how long it may be held until something changes, in milliseconds. */
  readonly holdMs: number;
}

/** One poll of a transport; the hub calls one of these, once, unless the poll was abandoned. */
export interface PollHandle {
  /** Gives everything that was asked for. `poller` is the number under which its client is known. */
  answer(body: Body, poller: PollId): void;
  /** What the client has is still so. */
  unchanged(): void;
  refuse(status: Status): void;
}

interface OpenPoll {
  readonly peer: Peer;
  readonly handle: PollHandle;
}

/** The polls that wait for their answer. */
export class PollRegistry {
  readonly #connectionLimits: ConnectionLimits;
  readonly #polls = new Map<PollId, OpenPoll>();

  constructor(connectionLimits: ConnectionLimits) {
    this.#connectionLimits = connectionLimits;
  }

  has(id: PollId): boolean {
    return this.#polls.has(id);
  }

  /** Takes in a poll that the census admitted. */
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

  /** Nobody waits for it any more. What it was waited with; undefined if it was over. */
  take(id: PollId): PollHandle | undefined {
    const poll = this.#polls.get(id);
    if (poll === undefined) return undefined;
    this.#polls.delete(id);
    this.#connectionLimits.streamClosed(poll.peer);
    return poll.handle;
  }

  /** Refuses all there are. */
  close(status: Status): void {
    for (const id of [...this.#polls.keys()]) this.take(id)?.refuse(status);
  }
}
