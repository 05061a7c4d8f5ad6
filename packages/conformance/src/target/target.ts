import type { NodeLayers, Setup, StreamKind } from "../case.ts";
import type { BookingObservation, Commit } from "../play/driver.ts";

/** Somebody's server software, of which a play starts as many servers as it needs. */
export interface Target extends AsyncDisposable {
  readonly name: string;
  readonly pace: Pace;
  /** Its servers tell what they book. */
  readonly tellsBookings: boolean;
  /** Its servers can be polled. */
  readonly hasRest: boolean;
  /** Starts a server without resources. Throws an `UnsupportedStep` if it cannot be set up like this. */
  start(setup: Setup, kind: StreamKind): Promise<RunningServer>;
}

/** How long a target is waited for. */
export interface Pace {
  /** What is expected must have come after so many milliseconds. */
  readonly deadlineMs: number;
  /** Nothing may come for so many milliseconds, once what was expected is there. */
  readonly quietMs: number;
  /**
   * The target answers one connection's requests in order and tells delta clients of missing names, so that such an answer
   * on another stream proves that nothing before it is still to come.
   */
  readonly hasFence: boolean;
}

/** One server under test. The methods throw an `UnsupportedStep` for what it cannot do. */
export interface RunningServer {
  /** `host:port`. */
  readonly address: string;
  commit(commit: Commit): Promise<void>;
  /** Places nodes anew: `base` for those that are not listed. */
  place(nodeMapping: NodeLayers): Promise<void>;
  /** What the server booked since the call before, in order. */
  takeBookings?(): readonly BookingObservation[];
  stop(): Promise<void>;
}
