import type { WatchEvent } from "@xdskit/protocol/internal";
import type { PlainSource, PlainWatch } from "../play/client/driver.ts";
import type { Pace } from "./target.ts";

/** Client software under test; each play starts one client. */
export interface ClientTarget extends AsyncDisposable {
  readonly name: string;
  readonly pace: Pick<Pace, "deadlineMs" | "quietMs">;
  /**
   * Starts a client with these sources and node id `n1`, which rejects resources whose content contains `REFUSED`.
   * Throws an `UnsupportedStep` if the target cannot.
   */
  start(sources: readonly ReachableSource[]): Promise<RunningClient>;
}

/** A source with the addresses of its servers, `host:port`. */
export interface ReachableSource extends PlainSource {
  readonly addresses: readonly string[];
}

/** One client under test. */
export interface RunningClient {
  /** Opens a watch whose events go to the listener, and returns a function that closes it. */
  watch(watch: PlainWatch, listener: (news: WatchEvent) => void): () => void;
  stop(): Promise<void>;
}
