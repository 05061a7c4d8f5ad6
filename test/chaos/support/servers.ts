import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StartedProcess, startProcess } from "../../e2e/support/process.ts";
import { until } from "../../e2e/support/wait.ts";
import type { Clock } from "./clock.ts";
import type { History } from "./history.ts";
import { SmallDisk } from "./small-disk.ts";

const LOOKS_EVERY_MS = 250;
const DISK_MEGABYTES = 16;
const UNCHECKED = /^xds_server_store_unchecked_total\{[^}]*\} (\d+)$/gm;

/** What a server of the world is started with. */
export interface ServedBy {
  readonly command: readonly string[];
  readonly store: string;
  readonly port: number;
  readonly adminPort: number;
  readonly env: Readonly<Record<string, string>>;
  /** How many processes serve the clients; undefined: the server itself. */
  readonly workers?: number | undefined;
}

/** `xds serve --store`, which follows. */
export class Follower implements AsyncDisposable {
  readonly index: number;
  readonly port: number;
  readonly adminPort: number;
  readonly #settings: ServedBy;
  readonly #state = mkdtempSync(join(tmpdir(), "xds-chaos-state-"));
  /** Of its state directory; undefined: nothing can be mounted. */
  readonly disk: SmallDisk | undefined = SmallDisk.mount(this.#state, DISK_MEGABYTES);
  readonly clock: Clock | undefined;
  readonly #over = new AbortController();
  #process: StartedProcess | undefined;
  /** The logs of processes that have ended. */
  #past = "";
  #looking: Promise<unknown> = Promise.resolve();

  constructor(index: number, settings: ServedBy, clock: Clock | undefined) {
    this.index = index;
    this.port = settings.port;
    this.adminPort = settings.adminPort;
    this.#settings = settings;
    this.clock = clock;
  }

  /** Resolves when it serves. */
  async start(): Promise<void> {
    const { command, store, port, adminPort, env, workers } = this.#settings;
    for (;;) {
      const process = await startProcess(
        [
          ...command,
          ...["serve", "--store", store, "--state-dir", this.#state],
          ...["--listen", `127.0.0.1:${port}`, "--admin", `127.0.0.1:${adminPort}`],
          ...(workers === undefined ? [] : ["--workers", `${workers}`]),
        ],
        { env: { ...env, ...this.clock?.env }, cwd: this.#state },
      );
      this.#process = process;
      const { value } = await until({ says: `server ${this.index} is ready`, withinMs: 60_000 }, async () => {
        if (process.ended() !== undefined) return "ended";
        return (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).ok ? "ready" : undefined;
      });
      if (value === "ready") return;
      // The engine was away when it started, and it had no copy: whoever runs it starts it again.
      this.#past += process.log();
    }
  }

  /** Looks at how many clients it served unasked, until the end. */
  watch({ unchecked }: History): void {
    this.#looking = (async () => {
      while (!this.#over.signal.aborted) {
        unchecked.push({ server: this.index, at: performance.now(), count: await this.#unchecked() });
        await new Promise((resolve) => setTimeout(resolve, LOOKS_EVERY_MS));
      }
    })();
  }

  async #unchecked(): Promise<number | undefined> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#settings.adminPort}/metrics`, {
        signal: AbortSignal.any([this.#over.signal, AbortSignal.timeout(10_000)]),
      });
      return [...(await answer.text()).matchAll(UNCHECKED)].reduce((sum, [, count]) => sum + Number(count), 0);
    } catch {
      return undefined;
    }
  }

  /** Its processes. */
  get pids(): readonly number[] {
    return this.#process === undefined ? [] : [this.#process.pid, ...this.workers()];
  }

  /** Its worker processes. */
  workers(): readonly number[] {
    const parent = this.#process;
    if (parent === undefined || parent.ended() !== undefined) return [];
    return readdirSync("/proc").flatMap((name) => (parentOf(name) === parent.pid ? [Number(name)] : []));
  }

  /** Forgets what it kept on its disk, as on another machine; it must not run. */
  forget(): void {
    for (const name of readdirSync(this.#state)) rmSync(join(this.#state, name), { recursive: true, force: true });
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
    this.#past += this.#process?.log() ?? "";
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    if (this.#process !== undefined && this.#process.ended() === undefined) process.kill(this.#process.pid, signal);
  }

  get log(): string {
    return `${this.#past}${this.#process?.log() ?? ""}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    this.signal("SIGCONT");
    await this.#process?.kill();
    await this.#looking;
    this.disk?.[Symbol.dispose]();
    rmSync(this.#state, { recursive: true, force: true });
  }
}

/** Undefined: it is no process, or has ended. */
function parentOf(pid: string): number | undefined {
  if (!/^\d+$/.test(pid)) return undefined;
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
