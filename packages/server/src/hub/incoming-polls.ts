import { anonymousNode, type Peer, type Status } from "@xdskit/protocol";
import { bytesOfRequest, type PollId } from "@xdskit/protocol/internal";
import type { Admission } from "./admission.ts";
import type { Connections } from "./connections.ts";
import type { Driver } from "./driver.ts";
import type { HubView } from "./hub-view.ts";
import type { NewPoll, PollHandle, PollRegistry } from "./poll-registry.ts";
import type { Reports } from "./reports.ts";
import { cancelled } from "./stream-registry.ts";
import { unanswerable, type WaitingRequests } from "./waiting-requests.ts";

export interface IncomingPollsParts {
  readonly connections: Connections;
  readonly admission: Admission;
  readonly polls: PollRegistry;
  readonly waiting: WaitingRequests;
  readonly driver: Driver;
  readonly view: HubView;
  readonly reports: Reports;
  /** The number of the next poll. */
  readonly nextId: () => PollId;
}

/** Takes polls in, and passes them on once they wait for nothing that a poll can wait for. */
export class IncomingPolls {
  readonly #parts: IncomingPollsParts;

  constructor(parts: IncomingPollsParts) {
    this.#parts = parts;
  }

  /** Takes in one poll. Returns its number while it waits, or undefined if its handle was already called. */
  poll(asked: NewPoll, handle: PollHandle): PollId | undefined {
    const { connections, polls, waiting, driver, reports, nextId } = this.#parts;
    const { connection, apiVersion, type, request, bytes, holdMs } = asked;
    const { peer, listener } = connections.get(connection) ?? {};
    const refusal = peer === undefined ? cancelled : this.#refusalOf(peer, asked);
    if (refusal !== undefined || peer === undefined) {
      handle.refuse(refusal ?? cancelled);
      return undefined;
    }
    const id = nextId();
    polls.open(id, peer, handle);
    reports.report({ kind: "request-received", stream: id, type, bytes });
    const event = { kind: "poll-received", poll: id, peer, listener, apiVersion, type, request, holdMs } as const;
    waiting.takePoll(id, type, request, bytesOfRequest(request, bytes), () => {
      if (polls.has(id)) reports.processPoll(id, () => driver.take(event, id));
    });
    return polls.has(id) ? id : undefined;
  }

  /** The client disconnected. */
  abandon(id: PollId): void {
    const { polls, waiting, driver } = this.#parts;
    waiting.forget(id);
    if (polls.take(id) !== undefined) driver.take({ kind: "poll-closed", poll: id });
  }

  refuse(id: PollId, status: Status): void {
    const { polls, waiting, driver } = this.#parts;
    const handle = polls.take(id);
    if (handle === undefined) return;
    waiting.forget(id);
    driver.take({ kind: "poll-closed", poll: id });
    handle.refuse(status);
  }

  /** Why a poll is refused at once; undefined: it is not. */
  #refusalOf(peer: Peer, { path, apiVersion, type, request }: NewPoll): Status | undefined {
    const { admission, waiting, view } = this.#parts;
    const claim = { entryPoint: "rest", peer, node: request.node ?? anonymousNode } as const;
    if (waiting.isForMissing(type, request, () => view.seenBy(claim))) return unanswerable.missing;
    return admission.refusePoll(peer, { apiVersion, method: path });
  }
}
