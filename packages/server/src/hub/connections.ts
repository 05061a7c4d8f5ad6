import type { Peer } from "@xdskit/protocol";
import type { NamedChoice } from "@xdskit/protocol/internal";
import type { LimitPassed } from "./byte-budget.ts";
import type { ConnectionLimits } from "./connection-limits.ts";

/** A connection that a client came over. */
export interface Connection {
  readonly peer: Peer;
  /** Such as `grpc`. */
  readonly transport: string;
  /** What was chosen for the port that it came to. */
  readonly listener: NamedChoice | undefined;
}

/** The connections that are open, each under the number that names it for its life. */
export class Connections {
  readonly #connectionLimits: ConnectionLimits;
  readonly #open = new Map<number, Connection>();
  #last = 0;

  constructor(connectionLimits: ConnectionLimits) {
    this.#connectionLimits = connectionLimits;
  }

  /** Takes in one more; or the limit that it would pass. */
  open(connection: Connection): number | LimitPassed {
    const passed = this.#connectionLimits.admitConnection(connection.peer);
    if (passed !== undefined) return passed;
    const id = ++this.#last;
    this.#open.set(id, connection);
    return id;
  }

  get(id: number): Connection | undefined {
    return this.#open.get(id);
  }

  /** Forgets a connection. What it was; undefined if it was closed before. */
  close(id: number): Connection | undefined {
    const closed = this.#open.get(id);
    if (closed === undefined) return undefined;
    this.#open.delete(id);
    this.#connectionLimits.connectionClosed(closed.peer);
    return closed;
  }
}
