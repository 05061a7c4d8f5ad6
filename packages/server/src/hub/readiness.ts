/** `starting` until there is something to serve, `draining` once streams are sent away. */
export type ReadinessState = "starting" | "ready" | "draining";

/** Whether clients are served, for whoever answers health checks. */
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
