import type { Peer } from "@xdskit/protocol";
import type { NamedChoice } from "@xdskit/protocol/internal";
import type { LimitPassed } from "./byte-budget.ts";
import type { ConnectionLimits } from "./connection-limits.ts";

/** A client's connection. */
export interface Connection {
  readonly peer: Peer;
  /** The transport, such as `grpc`. */
  readonly transport: string;
  /** The protocol overrides of the port. */
  readonly listener: NamedChoice | undefined;
}

/** The open connections by number. */
export class Connections {
  readonly #connectionLimits: ConnectionLimits;
  readonly #open = new Map<number, Connection>();
  #last = 0;

  constructor(connectionLimits: ConnectionLimits) {
    this.#connectionLimits = connectionLimits;
  }

  /** Adds a connection and returns its number, or the limit that it exceeds. */
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

  /** Removes and returns a connection; undefined if it was closed before. */
  close(id: number): Connection | undefined {
    const closed = this.#open.get(id);
    if (closed === undefined) return undefined;
    this.#open.delete(id);
    this.#connectionLimits.connectionClosed(closed.peer);
    return closed;
  }
}
