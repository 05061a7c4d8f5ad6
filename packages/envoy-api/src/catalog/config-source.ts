import type { Reference } from "@xdskit/protocol";
import type { ConfigSource } from "../../gen/types/envoy/config/core/v3/config_source_pb.d.ts";

/** Whether a config source fetches over xDS, not from a file. */
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

/** A reference with its config source, if it has one. */
export interface AskedReference extends Reference {
  readonly source?: ConfigSource | undefined;
}

const DEFAULT_FETCH_TIMEOUT_MS = 15_000;

/** Returns the initial fetch timeout of a config source in milliseconds; 0: none. */
export function fetchTimeoutMs({ initialFetchTimeout }: ConfigSource): number {
  if (initialFetchTimeout === undefined) return DEFAULT_FETCH_TIMEOUT_MS;
  return durationMs(initialFetchTimeout);
}

/** Converts a `Duration` to milliseconds. */
export function durationMs({ seconds, nanos }: { readonly seconds: bigint; readonly nanos: number }): number {
  return Number(seconds) * 1000 + nanos / 1e6;
}
