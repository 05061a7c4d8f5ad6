import type { TypeUrl } from "@xdskit/protocol";
import type { AnsweredResponse, DeliveryTimes } from "./deliveries.ts";

/** How many answers are kept of a node, and of all nodes. */
const MAX_PER_NODE = 32;
const MAX_ALTOGETHER = 200_000;
/** Of a type that changes more often, the newest answer of each second is kept. */
const APART_MS = 1_000;
/** UTF-16 code units of the reason of a NACK. */
const MAX_REASON = 800;

/** An ACK or a NACK of a node. */
export interface PastAnswer {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly type: TypeUrl;
  /** The revision of the server at which the response was made. */
  readonly revision: number;
  /** Why the client rejected it, as it said; undefined: it ACKed. */
  readonly reason: string | undefined;
}

/**
 * Which revisions a node ACKed and rejected when, as far back as memory reaches: where there are too many answers, the
 * nodes lose their oldest in turn. Costs the same for each answer.
 */
export class NodeHistory {
  /** Oldest first. */
  readonly #nodes = new Map<string, PastAnswer[]>();
  /** Whose turn it is to lose an answer. */
  #turn = this.#nodes.entries();
  readonly #maxAltogether: number;
  #size = 0;

  constructor(deliveries: Pick<DeliveryTimes, "onAnswered">, maxAltogether: number = MAX_ALTOGETHER) {
    this.#maxAltogether = maxAltogether;
    deliveries.onAnswered((answered) => this.#note(answered));
  }

  /** Newest first. */
  of(node: string): readonly PastAnswer[] {
    return (this.#nodes.get(node) ?? []).toReversed();
  }

  #note({ node, type, revision, at, reason: said }: AnsweredResponse): void {
    const reason = said?.slice(0, MAX_REASON);
    const answers = this.#nodes.get(node) ?? [];
    if (answers.length === 0) this.#nodes.set(node, answers);
    const last = answers.findLastIndex((answer) => answer.type === type);
    const before = answers[last];
    const isSoon = before !== undefined && at - before.at < APART_MS;
    if (isSoon && (before.reason === undefined) === (reason === undefined)) {
      answers.splice(last, 1);
      this.#size--;
    }
    answers.push({ at, type, revision, reason });
    this.#size++;
    if (answers.length > MAX_PER_NODE) this.#drop(answers);
    if (this.#size > this.#maxAltogether) this.#dropOldest();
  }

  #dropOldest(): void {
    let next = this.#turn.next();
    if (next.done === true) {
      this.#turn = this.#nodes.entries();
      next = this.#turn.next();
    }
    if (next.done === true) return;
    const [node, answers] = next.value;
    this.#drop(answers);
    if (answers.length === 0) this.#nodes.delete(node);
  }

  #drop(answers: PastAnswer[]): void {
    answers.shift();
    this.#size--;
  }
}
