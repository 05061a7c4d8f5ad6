import { type CheckOutcome, durationMs, type HealthStatus, type HealthTarget } from "./health-check.ts";

/** The timing and thresholds of a `core.v3.HealthCheck`. */
interface Terms {
  readonly intervalMs: number;
  /** The interval once after it becomes healthy. */
  readonly healthyEdgeMs: number;
  readonly unhealthyMs: number;
  /** The interval once after it becomes unhealthy. */
  readonly unhealthyEdgeMs: number;
  readonly initialJitterMs: number;
  readonly jitterMs: number;
  readonly jitterPercent: number;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
}

/** The lower limit; a check without an interval would otherwise run without a pause. */
const SHORTEST_INTERVAL_MS = 100;

/**
 * Judges an endpoint by one check, as Envoy does: the first outcome decides at once, later ones only after as many in a
 * row as the check's threshold; a wrong answer over HTTP makes it unhealthy at once. Pure: it has no clock.
 */
export class HealthJudgement {
  readonly #terms: Terms;
  readonly #isStrict: boolean;
  #status: HealthStatus = "UNKNOWN";
  /** Successive outcomes that contradict the current status. */
  #against = 0;
  #isEdge = false;

  constructor({ check, protocol }: Pick<HealthTarget, "check" | "protocol">) {
    this.#terms = termsOf(check);
    this.#isStrict = protocol === "HTTP";
  }

  get status(): HealthStatus {
    return this.#status;
  }

  hear(outcome: CheckOutcome): void {
    const before = this.#status;
    if (before === "UNKNOWN" || !this.#isAgainst(outcome)) {
      this.#against = 0;
      this.#status = statusOf(outcome);
    } else if (++this.#against >= this.#threshold || (this.#isStrict && outcome === "wrong-answer")) {
      this.#against = 0;
      this.#status = statusOf(outcome);
    }
    this.#isEdge = before !== "UNKNOWN" && (before === "HEALTHY") !== (this.#status === "HEALTHY");
  }

  /** The pause before the next check; `chance` is from 0 up to, not including, 1. */
  pauseMs(chance: number): number {
    const { initialJitterMs, jitterMs, jitterPercent } = this.#terms;
    if (this.#status === "UNKNOWN") return chance * initialJitterMs;
    const baseMs = this.#baseMs;
    return baseMs + chance * (jitterMs + (baseMs * jitterPercent) / 100);
  }

  get #baseMs(): number {
    const { intervalMs, healthyEdgeMs, unhealthyMs, unhealthyEdgeMs } = this.#terms;
    if (this.#status === "HEALTHY") return this.#isEdge ? healthyEdgeMs : intervalMs;
    return this.#isEdge ? unhealthyEdgeMs : unhealthyMs;
  }

  #isAgainst(outcome: CheckOutcome): boolean {
    return (this.#status === "HEALTHY") !== (outcome === "passed");
  }

  get #threshold(): number {
    return this.#status === "HEALTHY" ? this.#terms.unhealthyThreshold : this.#terms.healthyThreshold;
  }
}

function statusOf(outcome: CheckOutcome): HealthStatus {
  if (outcome === "passed") return "HEALTHY";
  return outcome === "timeout" ? "TIMEOUT" : "UNHEALTHY";
}

function termsOf(check: HealthTarget["check"]): Terms {
  const pauseOf = (field: string): number | undefined => {
    const ms = durationMs(check[field]);
    return ms === undefined ? undefined : Math.max(SHORTEST_INTERVAL_MS, ms);
  };
  const intervalMs = pauseOf("interval") ?? 1_000;
  const unhealthyMs = pauseOf("unhealthyInterval") ?? intervalMs;
  return {
    intervalMs,
    healthyEdgeMs: pauseOf("healthyEdgeInterval") ?? intervalMs,
    unhealthyMs,
    unhealthyEdgeMs: pauseOf("unhealthyEdgeInterval") ?? unhealthyMs,
    initialJitterMs: durationMs(check["initialJitter"]) ?? 0,
    jitterMs: durationMs(check["intervalJitter"]) ?? 0,
    jitterPercent: numberOf(check["intervalJitterPercent"]) ?? 0,
    healthyThreshold: numberOf(check["healthyThreshold"]) ?? 1,
    unhealthyThreshold: numberOf(check["unhealthyThreshold"]) ?? 1,
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
