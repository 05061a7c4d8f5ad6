import { encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, type Node } from "@xdskit/protocol";
import type { NamedChoice } from "@xdskit/protocol/internal";
import { pathOf, urlOf } from "../content/catalog.ts";
import type { WirePeer } from "../peer/connect-peer.ts";
import type { PeerStream } from "../peer/peer-stream.ts";
import { within } from "./within.ts";

/** The node of the fence; no case uses it. */
export const fenceNode: Node = { ...anonymousNode, id: "fence", cluster: "conformance" };

/** Whatever a case switches, the fence is answered. */
export const fenceChoice: NamedChoice = { name: "fence", edition: "current", dialect: { deltaMissing: "removed" } };

const ROUNDS = 2;

/**
 * Silence, proven: a stream of its own on the same connection asks for names that do not exist. Requests of a connection are
 * read in order and streams get their turns in order, so whatever was due before is on the wire before the answer.
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

  /** Resolves when the server has said all that it had to say. */
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
