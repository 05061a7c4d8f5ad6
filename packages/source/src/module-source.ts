import { resolve } from "node:path";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { Attention } from "./directory/attention.ts";
import { watchLoads } from "./directory/watch-loads.ts";
import type { DirectorySource } from "./directory-source.ts";
import type { Load } from "./loaded-state.ts";
import { FileWatch } from "./module/file-watch.ts";
import { ModuleReading } from "./module/module-reading.ts";
import { type Patience, usualPatience } from "./quiet.ts";
import type { ValidationLevel } from "./read-resource.ts";
import { untilReturn } from "./watch-iterator.ts";

/** Options of a module source. They override the settings in `xdskit.yaml` beside the module. */
export interface ModuleSourceOptions {
  /** Path of an ES module: `.js`, `.mjs`, `.ts` or `.mts`. */
  readonly module: string;
  readonly api: EnvoyApi;
  /** How validation failures are treated. @default the setting `validation`, else `"warn"` */
  readonly validation?: ValidationLevel;
  /** Maximum size of all resources as JSON. @default no limit */
  readonly maxBytes?: number;
  /** Accepts a module without resources as an empty state. @default the setting `allow-empty`, else `false` */
  readonly allowEmpty?: boolean;
  /** Warns about fields that are lost in conversion between v2 and v3 (S-TYP-10). @default `false` */
  readonly findsVersionLoss?: boolean;
  /** Time limit for running the module, in milliseconds. @default `10_000` */
  readonly timeoutMs?: number;
  /** Called with the module's output. @default ignores it */
  readonly onOutput?: (text: string) => void;
  /** How long to wait for further changes before a load. @default until 30 ms without a change, at most 1 s */
  readonly patience?: Patience;
  /** Interval for checking files for changes that the system did not report, in milliseconds. @default `5_000` */
  readonly pollMs?: number;
}

/**
 * What a program follows that reads a directory or a module: loads the resources once, or on every change. The resources
 * of a module have no places. No function takes one of your own: resources from elsewhere, such as a database, go to
 * `set` or `update` of a server (docs/guides/serve-from-a-program.md).
 */
export type ResourceSource = Pick<DirectorySource, "load" | "watch"> &
  Partial<Pick<DirectorySource, "placesOf" | "close">>;

const TIMEOUT_MS = 10_000;
const POLL_MS = 5_000;

/**
 * Creates a source that runs a module and takes the resources of its default export: a list, `{ layers }`, or a
 * function that returns either. Each load runs the module anew in its own thread; `watch` runs it when a file of its
 * module graph changes. Nothing runs before `load` or `watch`.
 */
export function createModuleSource(options: ModuleSourceOptions): ResourceSource {
  return new WatchedModule(options);
}

class WatchedModule implements ResourceSource {
  readonly #reading: ModuleReading;
  readonly #patience: Patience;
  readonly #pollMs: number;
  /** Ends the runs of loads that began before the end of the watch. */
  #closing = new AbortController();
  #turn: Promise<unknown> = Promise.resolve();
  #last: Load | undefined;

  constructor(options: ModuleSourceOptions) {
    const { module, api, validation, maxBytes, allowEmpty, findsVersionLoss = false, patience, pollMs } = options;
    const { timeoutMs = TIMEOUT_MS, onOutput = () => undefined } = options;
    const fixed = { validation, maxBytes, allowEmpty, findsVersionLoss, timeoutMs, onOutput };
    this.#reading = new ModuleReading({ module: resolve(module), api, ...fixed });
    this.#patience = patience ?? usualPatience;
    this.#pollMs = pollMs ?? POLL_MS;
  }

  load(): Promise<Load> {
    const { signal } = this.#closing;
    const look = async (): Promise<Load> => {
      const load = await this.#reading.look(signal);
      // The run of an ended watch was cut short and says nothing about the module.
      if (!signal.aborted) this.#last = load;
      return load;
    };
    const turn = this.#turn.then(look);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  watch(signal: AbortSignal): AsyncIterable<Load> {
    return untilReturn(signal, (ending) => this.#watch(ending));
  }

  async *#watch(signal: AbortSignal): AsyncGenerator<Load, undefined> {
    const attention = new Attention(this.#patience, signal);
    const files = new FileWatch((path) => attention.call(path));
    const close = (): void => this.#close();
    const follow = (): Promise<void> => files.follow(this.#reading.files, this.#reading.lookedAtMs);
    signal.addEventListener("abort", close, { once: true });
    try {
      if (this.#last === undefined) attention.call("");
      else await follow();
      yield* watchLoads(attention, signal, this.#last, {
        isEager: false, // a module may do anything when it runs
        poll: () => {
          const timer = setInterval(() => void files.look(), this.#pollMs);
          return () => clearInterval(timer);
        },
        look: async () => {
          const load = await this.load();
          await follow();
          return load;
        },
        isSame: (a, b) => a === b,
      });
    } finally {
      signal.removeEventListener("abort", close);
      files.close();
    }
  }

  #close(): void {
    this.#closing.abort();
    this.#closing = new AbortController();
  }
}
