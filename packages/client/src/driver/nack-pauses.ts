import { startTimer, type Timer } from "@xdskit/disk";
import type { TypeUrl } from "@xdskit/protocol";
import type { DiscoveryRequest } from "@xdskit/protocol/internal";

/** How many NACKs of a type in a row are sent at once. */
const MOST_AT_ONCE = 3;
/** The first pause; each further one is twice as long. In milliseconds. */
const SHORTEST_MS = 100;
/** The longest pause, in milliseconds. */
const LONGEST_MS = 10_000;
/**
 * A server that takes longer than this to send the next response, in milliseconds, does not answer NACKs at once: its
 * responses are new states, and one that is good must not wait for the answer to one that was not.
 */
const AT_ONCE_MS = 1_000;
/** The limit of NACKs of a type that wait, for a server that does not wait for them. */
const MOST_WAITING = 100;

/** The NACKs of one type since its last other request. */
interface Row {
  count: number;
  sentAtMs: number;
  /** The names of the last request. */
  names: readonly string[] | undefined;
  readonly waiting: DiscoveryRequest[];
  timer: Timer | undefined;
}

/**
 * Sends the requests of one stream, those of each type in order, with a growing pause before a NACK that follows others
 * of its type: some servers answer each NACK at once with the same response, which would keep both sides busy without
 * end. An ACK, a change of subscriptions and other types do not wait.
 */
export class NackPauses {
  readonly #send: (request: DiscoveryRequest) => void;
  readonly #rows = new Map<TypeUrl | undefined, Row>();

  constructor(send: (request: DiscoveryRequest) => void) {
    this.#send = send;
  }

  send(request: DiscoveryRequest): void {
    const row = this.#rowOf(request.type);
    if (request.error !== undefined && !changesNames(request, row)) {
      this.#nack(request, row);
      return;
    }
    this.#release(row);
    if (request.error === undefined) row.count = 0;
    if (request.kind === "sotw") row.names = request.names;
    this.#send(request);
  }

  /** Drops what waits. */
  close(): void {
    for (const { timer } of this.#rows.values()) timer?.cancel();
    this.#rows.clear();
  }

  #nack(request: DiscoveryRequest, row: Row): void {
    const isAlone = row.waiting.length === 0 && performance.now() - row.sentAtMs > AT_ONCE_MS;
    row.count = isAlone ? 1 : row.count + 1;
    row.waiting.push(request);
    const pauseMs = pauseBefore(row.count);
    if (pauseMs === 0) this.#release(row);
    else row.timer ??= startTimer(pauseMs, () => this.#release(row));
    if (row.waiting.length > MOST_WAITING) this.#sendFirst(row);
  }

  #release(row: Row): void {
    row.timer?.cancel();
    row.timer = undefined;
    while (row.waiting.length > 0) this.#sendFirst(row);
  }

  #sendFirst(row: Row): void {
    const request = row.waiting.shift();
    if (request === undefined) return;
    row.sentAtMs = performance.now();
    this.#send(request);
  }

  #rowOf(type: TypeUrl | undefined): Row {
    const known = this.#rows.get(type);
    if (known !== undefined) return known;
    const row: Row = { count: 0, sentAtMs: 0, names: undefined, waiting: [], timer: undefined };
    this.#rows.set(type, row);
    return row;
  }
}

/** Whether a request also changes what is subscribed. */
function changesNames(request: DiscoveryRequest, { names }: Row): boolean {
  if (request.kind === "sotw") return request.names !== names;
  return request.subscribe.length > 0 || request.unsubscribe.length > 0;
}

function pauseBefore(count: number): number {
  return count <= MOST_AT_ONCE ? 0 : Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (count - MOST_AT_ONCE - 1));
}
