import { encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, type Node } from "@xdskit/protocol";
import type { NamedChoice } from "@xdskit/protocol/internal";
import { pathOf, urlOf } from "../content/catalog.ts";
import type { WirePeer } from "../peer/connect-peer.ts";
import type { PeerStream } from "../peer/peer-stream.ts";
import { within } from "./within.ts";

/** The node of the fence, which no case uses. */
export const fenceNode: Node = { ...anonymousNode, id: "fence", cluster: "conformance" };

/** Overrides the case's dialect for the fence, so that the fence always gets a response. */
export const fenceChoice: NamedChoice = { name: "fence", edition: "current", dialect: { deltaMissing: "removed" } };

const ROUNDS = 2;

/**
 * Proves that the server sends nothing more: a separate stream on the same connection subscribes to names that do not
 * exist. The server reads requests of a connection in order and flushes streams in order, so everything due is on the
 * wire before the response.
 */
export class Fence {
  readonly #stream: PeerStream;
  readonly #answers: AsyncIterator<Uint8Array>;
  readonly #deadlineMs: number;
  #asked = 0;

  constructor(peer: WirePeer, deadlineMs: number) {
    this.#stream = peer.open(pathOf("delta", undefined));
    this.#answers = this.#stream.messages[Symbol.asyncIterator]();
    this.#deadlineMs = deadlineMs;
  }

  /** Resolves when the server has sent everything that is due. */
  async pass(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const isFirst = this.#asked++ === 0;
      this.#stream.send(
        encodeDeltaRequest({
          typeUrl: urlOf("rtds"),
          resourceNamesSubscribe: [`fence-${this.#asked}`],
          ...(isFirst ? { node: fenceNode } : {}),
        }),
      );
      const answer = await within(this.#deadlineMs, this.#answers.next(), "the fence was not answered");
      if (answer.done === true)
        throw new Error(`the fence's stream ended: ${JSON.stringify(await this.#stream.status)}`);
    }
  }
}
