import { setTimeout as pause } from "node:timers/promises";
import { type StartedProcess, startProcess } from "../../e2e/support/process.ts";
import { createSite, type FileContent } from "../../e2e/support/site.ts";
import type { Clock } from "./clock.ts";
import type { Append, History } from "./history.ts";
import type { Random } from "./random.ts";

export interface PublisherSettings {
  /** Begins its contents: `a-1`, `a-2`, …. */
  readonly name: string;
  readonly command: readonly string[];
  readonly store: string;
  readonly env: Readonly<Record<string, string>>;
  /** The files of a publication. */
  readonly files: (content: string) => Readonly<Record<string, FileContent>>;
  readonly clock: Clock | undefined;
  /** The longest pause between two publications. */
  readonly pauseMs: number;
}

/** Everything is replaced each time, on purpose. */
const noFuses = ["--fuses-resources-removed", "off", "--fuses-size-grown", "off", "--fuses-size-shrunk", "off"];

/** Calls `xds publish` again and again, each time with other content. */
export class Publisher implements AsyncDisposable {
  readonly #settings: PublisherSettings;
  readonly #history: History;
  readonly #random: Random;
  readonly #site = createSite();
  #over = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #process: StartedProcess | undefined;
  #count = 0;

  constructor(settings: PublisherSettings, history: History, random: Random) {
    this.#settings = settings;
    this.#history = history;
    this.#random = random;
  }

  /** Publishes once. Resolves with the outcome, or undefined if it cannot tell. */
  async publish(): Promise<Append["outcome"]> {
    const { name, command, store, files } = this.#settings;
    const content = `${name}-${++this.#count}`;
    this.#site.write(files(content));
    const append: Append = { publisher: name, content, calledAt: performance.now() };
    this.#history.appends.push(append);
    const process = await startProcess(
      [...command, "publish", this.#site.directory, "--store", store, "-m", content, "-o", "json", ...noFuses],
      { env: { ...this.#settings.env, ...this.clock?.env } },
    );
    this.#process = process;
    await process.closed;
    const { code } = process.ended() ?? { code: null };
    if (code !== 0) {
      // 69: the store could not be reached, or did not say what became of it. Killed: nobody knows.
      if (code === null || code === 69) return undefined;
      throw new Error(`xds publish of ${content} ended with ${code}:\n${process.log()}`);
    }
    const { number } = JSON.parse(process.log()) as { readonly number: number };
    append.outcome = { at: performance.now(), number };
    return append.outcome;
  }

  get clock(): Clock | undefined {
    return this.#settings.clock;
  }

  start(): void {
    this.#over = new AbortController();
    const { signal } = this.#over;
    this.#running = (async () => {
      while (!signal.aborted) {
        await this.publish();
        await pause(this.#random.below(this.#settings.pauseMs), undefined, { signal }).catch(() => {});
      }
    })();
  }

  /** Resolves when its last call has ended. Rejects with what was wrong. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  kill(): void {
    this.signal("SIGKILL");
  }

  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    if (this.#process !== undefined && this.#process.ended() === undefined) process.kill(this.#process.pid, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    this.signal("SIGKILL");
    await this.#running.catch(() => {});
    this.#site[Symbol.dispose]();
  }
}
