import { startTimer, type Timer } from "@xdskit/disk";
import { checkWithin, type HealthCheckers, type HealthStatus, type HealthTarget } from "./health-check.ts";
import { HealthJudgement } from "./health-judgement.ts";
import type { Finding, SpecifiedEndpoint, Specifier } from "./specifier.ts";

/** The limit of concurrent checks. */
const MOST_CHECKS = 100;

/** One check of one endpoint, repeated. */
interface Round {
  readonly target: HealthTarget;
  readonly judgement: HealthJudgement;
  readonly stopping: AbortController;
  timer: Timer | undefined;
}

/** Checks all endpoints that a server specifies, each at its own interval. Does not keep the process alive. */
export class HealthRounds {
  readonly #checkers: HealthCheckers;
  readonly #rounds = new Map<string, Round>();
  #endpoints: readonly SpecifiedEndpoint[] = [];
  #running = 0;
  readonly #waiting = new Set<Round>();

  constructor(checkers: HealthCheckers) {
    this.#checkers = checkers;
  }

  /** Replaces the endpoints; the same check of the same endpoint continues with its state. */
  check({ endpoints }: Pick<Specifier, "endpoints">): void {
    this.#endpoints = endpoints;
    const wanted = new Map(
      endpoints.flatMap(({ targets }) => targets.map((target) => [keyOf(target), target] as const)),
    );
    for (const [key, round] of this.#rounds) if (!wanted.has(key)) this.#stop(key, round);
    for (const [key, target] of wanted) {
      if (this.#rounds.has(key) || this.#checkers[target.protocol] === undefined) continue;
      const judgement = new HealthJudgement(target);
      const round: Round = { target, judgement, stopping: new AbortController(), timer: undefined };
      this.#rounds.set(key, round);
      this.#pause(round);
    }
  }

  /** The current status of every endpoint. */
  findings(): readonly Finding[] {
    return this.#endpoints.map((endpoint) => {
      const found = endpoint.targets.map((target) => this.#rounds.get(keyOf(target))?.judgement.status ?? "UNKNOWN");
      return { ...endpoint, status: worstOf(endpoint.hasUnknownCheck ? [...found, "UNKNOWN"] : found) };
    });
  }

  stop(): void {
    this.#endpoints = [];
    for (const [key, round] of this.#rounds) this.#stop(key, round);
  }

  #stop(key: string, round: Round): void {
    round.timer?.cancel();
    this.#rounds.delete(key);
    this.#waiting.delete(round);
    round.stopping.abort();
  }

  #pause(round: Round): void {
    round.timer = startTimer(round.judgement.pauseMs(Math.random()), () => this.#begin(round));
  }

  #begin(round: Round): void {
    if (this.#running >= MOST_CHECKS) this.#waiting.add(round);
    else void this.#run(round);
  }

  /** Never rejects. */
  async #run(round: Round): Promise<void> {
    const { target, judgement, stopping } = round;
    const checker = this.#checkers[target.protocol];
    if (checker === undefined) return;
    this.#running++;
    const outcome = await checkWithin(checker, target, stopping.signal);
    this.#running--;
    if (!stopping.signal.aborted) {
      judgement.hear(outcome);
      this.#pause(round);
    }
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#begin(next);
  }
}

function keyOf({ cluster, endpoint, check }: HealthTarget): string {
  return JSON.stringify([cluster, endpoint, check]);
}

/** The worst status of several checks of one endpoint. */
function worstOf(found: readonly HealthStatus[]): HealthStatus {
  const worst = (["UNHEALTHY", "TIMEOUT", "UNKNOWN"] as const).find((status) => found.includes(status));
  return worst ?? (found.length === 0 ? "UNKNOWN" : "HEALTHY");
}
