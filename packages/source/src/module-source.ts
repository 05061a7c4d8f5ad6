import { resolve } from "node:path";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { Attention } from "./directory/attention.ts";
import type { DirectorySource } from "./directory-source.ts";
import type { Load } from "./loaded-state.ts";
import { FileWatch } from "./module/file-watch.ts";
import { ModuleReading } from "./module/module-reading.ts";
import { type Patience, usualPatience } from "./quiet.ts";
import type { ValidationLevel } from "./read-resource.ts";

/** What a source is made from. What is given here goes before what `xdskit.yaml` beside the module says. */
export interface ModuleSourceOptions {
  /** Path of an ES module: `.js`, `.mjs`, `.ts` or `.mts`. */
  readonly module: string;
  readonly api: EnvoyApi;
  /** What breaking a validation rule of Envoy's messages leads to. Default: `warn`. */
  readonly validation?: ValidationLevel;
  /** Size of all resources as JSON. Default: no limit. */
  readonly maxBytes?: number;
  /** No resources are an empty state. Default: they are a problem. */
  readonly allowEmpty?: boolean;
  /** Warns of what v2 cannot express of resources of v3, and v3 of those of v2 (S-TYP-10). Default: it does not. */
  readonly findsVersionLoss?: boolean;
  /** How long the module may take until its resources are there. Default: 10 s. */
  readonly timeoutMs?: number;
  /** Takes what the module prints. Default: nobody does. */
  readonly onOutput?: (text: string) => void;
  /** How long to wait for more changes. Default: 50 ms of quiet, 1 s in all. */
  readonly patience?: Patience;
  /** How often to look at the files even if nobody says that they changed. Default: every 5 s. */
  readonly pollMs?: number;
}

/** A source of resources: what it holds now, and whenever that changes. */
export type ResourceSource = Pick<DirectorySource, "load" | "watch">;

const TIMEOUT_MS = 10_000;
const POLL_MS = 5_000;

/**
 * A source that runs a module and takes the resources that it exports by default: a list of them, `{ layers }`, or a function
 * that returns either. Each load runs the module anew, in a thread of its own; the watch runs it whenever a file of its module
 * graph changes. Nothing is run until `load` or `watch`.
 */
export function createModuleSource(options: ModuleSourceOptions): ResourceSource {
  return new WatchedModule(options);
}

class WatchedModule implements ResourceSource {
  readonly #reading: ModuleReading;
  readonly #patience: Patience;
  readonly #pollMs: number;
  /** Ends with the watch. */
  readonly #closing = new AbortController();
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
    const look = async (): Promise<Load> => {
      this.#last = await this.#reading.look(this.#closing.signal);
      return this.#last;
    };
    const turn = this.#turn.then(look);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async *watch(signal: AbortSignal): AsyncIterable<Load> {
    const attention = new Attention(this.#patience, signal);
    const files = new FileWatch((path) => attention.call(path));
    const close = (): void => this.#closing.abort();
    signal.addEventListener("abort", close, { once: true });
    let told = this.#last;
    const poll = setInterval(() => void files.look(), this.#pollMs);
    try {
      if (told === undefined) attention.call("");
      else await files.follow(this.#reading.files, this.#reading.lookedAtMs);
      while (!signal.aborted) {
        await attention.untilCalled();
        await attention.untilQuiet();
        if (signal.aborted) return;
        const load = await this.load();
        await files.follow(this.#reading.files, this.#reading.lookedAtMs);
        if (signal.aborted) return;
        if (attention.isContinued) continue;
        attention.endBurst();
        if (load === told) continue;
        told = load;
        yield load;
      }
    } finally {
      clearInterval(poll);
      signal.removeEventListener("abort", close);
      files.close();
    }
  }
}
