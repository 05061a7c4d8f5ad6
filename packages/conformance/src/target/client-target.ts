import type { WatchEvent } from "@xdskit/protocol/internal";
import type { PlainSource, PlainWatch } from "../play/client/driver.ts";
import type { Pace } from "./target.ts";

/** Somebody's client software, of which each play starts one client. */
export interface ClientTarget extends AsyncDisposable {
  readonly name: string;
  readonly pace: Pick<Pace, "deadlineMs" | "quietMs">;
  /**
   * Starts a client of these sources that is called `n1`, and that refuses resources whose content says that they are of the kind that is
   * refused. Throws an `UnsupportedStep` if there is no such client.
   */
  start(sources: readonly ReachableSource[]): Promise<RunningClient>;
}

/** A source with the addresses of its servers, `host:port`. */
export interface ReachableSource extends PlainSource {
  readonly addresses: readonly string[];
}

/** One client under test. */
export interface RunningClient {
  /** The listener is called with all that the watch is told, until what is returned is called. */
  watch(watch: PlainWatch, listener: (news: WatchEvent) => void): () => void;
  stop(): Promise<void>;
}
