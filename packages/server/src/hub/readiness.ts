/** `starting` until the first commit, `draining` during a drain. */
export type ReadinessState = "starting" | "ready" | "draining";

/** Tracks whether clients are served, for health checks. */
export class ReadinessTracker {
  #state: ReadinessState = "starting";
  readonly #watchers = new Set<() => void>();

  get state(): ReadinessState {
    return this.#state;
  }

  /** Draining is the last state: nothing leads out of it. */
  become(state: ReadinessState): void {
    if (this.#state === state || this.#state === "draining") return;
    this.#state = state;
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Calls the watcher on every change until the function it returns is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  }
}
