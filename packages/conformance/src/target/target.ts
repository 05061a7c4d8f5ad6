import type { NodeLayers, Setup, StreamKind } from "../case.ts";
import type { BookingObservation, Commit } from "../play/driver.ts";

/** Server software under test; each play starts the servers that it needs. */
export interface Target extends AsyncDisposable {
  readonly name: string;
  readonly pace: Pace;
  /** Its servers report recorded ACKs and NACKs. */
  readonly tellsBookings: boolean;
  /**
   * Its servers make some choices of ours in every case: in delta the version of a resource changes only with its content,
   * and in State of the World nothing is repeated beside what changed of a type whose responses need not be complete. Other
   * servers are held to that by the cases of these rules alone.
   */
  readonly isExact: boolean;
  /** Its servers support REST polling. */
  readonly hasRest: boolean;
  /** Starts a server without resources. Throws an `UnsupportedStep` for a setup that it does not support. */
  start(setup: Setup, kind: StreamKind): Promise<RunningServer>;
}

/** How long to wait for a target. */
export interface Pace {
  /** Time limit for the expected events, in milliseconds. */
  readonly deadlineMs: number;
  /** How long the target must stay silent after the expected events, in milliseconds. */
  readonly quietMs: number;
  /**
   * The target processes the requests of a connection in order and tells delta clients of missing names, so that a
   * response on a separate stream proves that nothing before it is pending.
   */
  readonly hasFence: boolean;
}

/** A server under test. Its methods throw an `UnsupportedStep` for what it does not support. */
export interface RunningServer {
  /** `host:port`. */
  readonly address: string;
  commit(commit: Commit): Promise<void>;
  /** Changes the node mapping; nodes that are not listed see `base`. */
  place(nodeMapping: NodeLayers): Promise<void>;
  /** The ACKs and NACKs that the server recorded since the last call, in order. */
  takeBookings?(): readonly BookingObservation[];
  stop(): Promise<void>;
}
