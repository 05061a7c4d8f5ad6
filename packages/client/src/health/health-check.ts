import { startTimer } from "@xdskit/disk";
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
 * Whether an endpoint is healthy. `false`: it answered, and not as it should. One that throws or rejects says that there was no answer. Over HTTP an endpoint
 * that answers wrongly is unhealthy at once, as for an Envoy; everything else counts towards `unhealthy_threshold`. The signal aborts when the time
 * that the server gives it is over, or when nobody wants to know any more.
 */
export type HealthChecker = (target: HealthTarget, signal: AbortSignal) => Promise<boolean> | boolean;

/** How an endpoint is checked, by protocol. */
export type HealthCheckers = { readonly [Protocol in HealthCheckProtocol]?: HealthChecker };

/** `core.v3.HealthStatus`, as far as checks come to it. `UNKNOWN`: it was not checked yet, or no checker is there for it. */
export type HealthStatus = "HEALTHY" | "UNHEALTHY" | "TIMEOUT" | "UNKNOWN";

/** What one check came to. */
export type CheckOutcome = "passed" | "wrong-answer" | "no-answer" | "timeout";

/** Milliseconds of a `Duration` in JSON, such as `1.500s`; undefined: there is none. */
export function durationMs(duration: unknown): number | undefined {
  const [, seconds] = typeof duration === "string" ? (/^(\d+(?:\.\d+)?)s$/.exec(duration) ?? []) : [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

const DEFAULT_TIMEOUT_MS = 1_000;

/** Runs a checker within its time. Does not reject; what is stopped did not come to anything. */
export async function checkWithin(
  checker: HealthChecker,
  target: HealthTarget,
  stopping: AbortSignal,
): Promise<CheckOutcome> {
  // Not a signal made of others: those live as long as what stops all checks, which may be for ever.
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
    // What a checker throws says that the endpoint cannot be used; why, is nothing that the server could be told.
    return isLate ? "timeout" : "no-answer";
  } finally {
    timer.cancel();
    stopping.removeEventListener("abort", end);
  }
}
