import { startTimer } from "@xdskit/disk";
import type { HealthCheckProtocol } from "@xdskit/envoy-api";

/** An endpoint that a server wants checked, and its check. */
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
 * Checks whether an endpoint is healthy. `false`: it answered wrongly; an exception or rejection: it did not answer. As
 * in Envoy, a wrong answer over HTTP makes an endpoint unhealthy at once; any other failure counts towards
 * `unhealthy_threshold`. The signal aborts at the check's timeout or when the check is cancelled.
 */
export type HealthChecker = (target: HealthTarget, signal: AbortSignal) => Promise<boolean> | boolean;

/** Health checkers by protocol. */
export type HealthCheckers = { readonly [Protocol in HealthCheckProtocol]?: HealthChecker };

/**
 * The values of `core.v3.HealthStatus` that checks yield. `UNKNOWN`: not checked yet, or no checker for the protocol.
 */
export type HealthStatus = "HEALTHY" | "UNHEALTHY" | "TIMEOUT" | "UNKNOWN";

/** The result of one check. */
export type CheckOutcome = "passed" | "wrong-answer" | "no-answer" | "timeout";

/** The milliseconds of a JSON `Duration`, such as `1.500s`; undefined: none. */
export function durationMs(duration: unknown): number | undefined {
  const [, seconds] = typeof duration === "string" ? (/^(\d+(?:\.\d+)?)s$/.exec(duration) ?? []) : [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

const DEFAULT_TIMEOUT_MS = 1_000;

/** Runs a checker within its timeout. Never rejects; a cancelled check has no outcome. */
export async function checkWithin(
  checker: HealthChecker,
  target: HealthTarget,
  stopping: AbortSignal,
): Promise<CheckOutcome> {
  // Not `AbortSignal.any`: a combined signal lives as long as the one that stops all checks, possibly forever.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  let isLate = false;
  const timer = startTimer(Math.max(1, durationMs(target.check["timeout"]) ?? DEFAULT_TIMEOUT_MS), () => {
    isLate = true;
    end();
  });
  stopping.addEventListener("abort", end, { once: true });
  const late = new Promise<"timeout">((resolve) => {
    ending.signal.addEventListener("abort", () => resolve("timeout"), { once: true });
  });
  try {
    const found = Promise.resolve(checker(target, ending.signal)).then((isRight) =>
      isRight ? "passed" : "wrong-answer",
    );
    return await Promise.race([found, late]);
  } catch {
    // An exception means that the endpoint is unusable; the protocol cannot report the reason.
    return isLate ? "timeout" : "no-answer";
  } finally {
    timer.cancel();
    stopping.removeEventListener("abort", end);
  }
}
