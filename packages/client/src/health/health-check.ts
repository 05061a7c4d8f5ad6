import type { HealthCheckProtocol } from "@xdskit/envoy-api";

/** One endpoint that a server wants checked, and how. */
export interface HealthTarget {
  readonly cluster: string;
  readonly host: string;
  readonly port: number;
  readonly protocol: HealthCheckProtocol;
  /** The JSON of a `core.v3.HealthCheck`. */
  readonly check: Readonly<Record<string, unknown>>;
  /** The JSON of an `endpoint.v3.Endpoint`. */
  readonly endpoint: Readonly<Record<string, unknown>>;
}

/**
 * Whether an endpoint is healthy. One that throws, or rejects, says that it is not. The signal aborts when the time that the server gives it is over, or
 * when nobody wants to know any more.
 */
export type HealthChecker = (target: HealthTarget, signal: AbortSignal) => Promise<boolean> | boolean;

/** `core.v3.HealthStatus`, as far as checks come to it. `UNKNOWN`: no checker is there for it. */
export type HealthStatus = "HEALTHY" | "UNHEALTHY" | "TIMEOUT" | "UNKNOWN";

/** Milliseconds of a `Duration` in JSON, such as `1.500s`; undefined: there is none. */
export function durationMs(duration: unknown): number | undefined {
  const [, seconds] = typeof duration === "string" ? (/^(\d+(?:\.\d+)?)s$/.exec(duration) ?? []) : [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

const DEFAULT_TIMEOUT_MS = 1_000;

/** Runs a checker within its time. Does not reject. */
export async function checkWithin(
  checker: HealthChecker,
  target: HealthTarget,
  stopping: AbortSignal,
): Promise<HealthStatus> {
  const timeout = AbortSignal.timeout(Math.max(1, durationMs(target.check["timeout"]) ?? DEFAULT_TIMEOUT_MS));
  const signal = AbortSignal.any([timeout, stopping]);
  const late = new Promise<"TIMEOUT">((resolve) => {
    signal.addEventListener("abort", () => resolve("TIMEOUT"), { once: true });
  });
  try {
    const found = Promise.resolve(checker(target, signal)).then((isHealthy) => (isHealthy ? "HEALTHY" : "UNHEALTHY"));
    return await Promise.race([found, late]);
  } catch {
    // What a checker throws says that the endpoint cannot be used; why, is nothing that the server could be told.
    return timeout.aborted ? "TIMEOUT" : "UNHEALTHY";
  }
}
