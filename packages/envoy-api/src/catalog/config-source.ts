import type { Reference } from "@xdskit/protocol";
import type { ConfigSource } from "../../gen/types/envoy/config/core/v3/config_source_pb.d.ts";

/** Whether a resource from this source is asked for over xDS, and not read from a file. */
export function isAskedOverXds(source: ConfigSource | undefined): boolean {
  switch (source?.configSourceSpecifier.case) {
    case "ads":
    case "apiConfigSource":
    case "self":
      return true;
    default:
      return false;
  }
}

/** A reference, with from whom the resource is asked where that is said. */
export interface AskedReference extends Reference {
  readonly source?: ConfigSource | undefined;
}

const DEFAULT_FETCH_TIMEOUT_MS = 15_000;

/** How long a client that starts waits for a resource from this source, in milliseconds; 0: for ever. */
export function fetchTimeoutMs({ initialFetchTimeout }: ConfigSource): number {
  if (initialFetchTimeout === undefined) return DEFAULT_FETCH_TIMEOUT_MS;
  return durationMs(initialFetchTimeout);
}

/** A `Duration` in milliseconds. */
export function durationMs({ seconds, nanos }: { readonly seconds: bigint; readonly nanos: number }): number {
  return Number(seconds) * 1000 + nanos / 1e6;
}
