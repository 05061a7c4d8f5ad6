import { anonymousNode, type Node } from "@xdskit/protocol";
import { type DiscoveryRequest, entryPointOf, type PollId, type StreamId } from "@xdskit/protocol/internal";
import type { AccountHolder } from "./account.ts";
import type { HubView } from "./hub-view.ts";
import type { PollRegistry } from "./poll-registry.ts";
import type { StreamRegistry } from "./stream-registry.ts";
import type { Sees } from "./withheld-requests.ts";

export interface RequestersParts {
  readonly streams: StreamRegistry;
  readonly polls: PollRegistry;
  readonly view: HubView;
}

/** Who sends the requests of open streams and polls, and what that client may have. */
export class Requesters {
  readonly #parts: RequestersParts;

  constructor(parts: RequestersParts) {
    this.#parts = parts;
  }

  accountHolder(id: StreamId | PollId): AccountHolder {
    const { streams, polls } = this.#parts;
    return streams.get(id)?.peer ?? polls.peerOf(id) ?? { address: "" };
  }

  /** What the client of a stream may have; `named`: the node of a request that has not been processed. */
  viewOf(id: StreamId, named: Node | undefined): Sees {
    const { streams, view } = this.#parts;
    const stream = streams.get(id);
    if (stream === undefined) return () => false;
    const node = named ?? view.nodeOf(id) ?? anonymousNode;
    return view.seenBy({ entryPoint: entryPointOf(stream), peer: stream.peer, node });
  }

  /** Whether what a request brings is of states that this server has or had; so also if nobody can say of what type it is. */
  isKnown(id: StreamId | PollId, request: DiscoveryRequest): boolean {
    const { streams, polls, view } = this.#parts;
    const stream = streams.get(id);
    const peer = stream?.peer ?? polls.peerOf(id);
    const type = request.type ?? stream?.onlyType;
    if (peer === undefined || type === undefined) return true;
    const entryPoint = stream === undefined ? "rest" : entryPointOf(stream);
    const node = request.node ?? view.nodeOf(id) ?? anonymousNode;
    return view.knows({ entryPoint, peer, node }, type, request);
  }
}
