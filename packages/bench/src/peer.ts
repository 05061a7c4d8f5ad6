import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** Servers and load clients run on separate cores. */
export const SERVER_CPU = 0;
export const CLIENT_CPU = 1;
/** For a server whose threads work at the same time. */
export const BOTH_CPUS = "0,1";

/** What a process uses. */
export interface Usage {
  readonly residentMb: number;
  readonly peakMb: number;
  readonly cpuSeconds: number;
}

/** One JSON line that a process prints. */
export type Line = Readonly<Record<string, unknown>>;

/** A process that reads commands as lines and answers with JSON lines. */
export class Peer implements AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: Line[] = [];
  readonly #waiting: {
    readonly event: string;
    readonly resolve: (line: Line) => void;
    readonly reject: (cause: Error) => void;
  }[] = [];
  #errors = "";

  /** `cpu` is the core, or a list of the cores, that it is bound to; `says` is the stream of its JSON lines, if it prints any. */
  constructor(
    command: string,
    args: readonly string[],
    cpu: number | string,
    says: "stdout" | "stderr" | "none" = "stdout",
  ) {
    this.#process = spawn("taskset", ["-c", String(cpu), command, ...args]);
    this.#process.stderr.on("data", (text: Buffer) => {
      this.#errors = `${this.#errors}${text.toString()}`.slice(-2_000);
    });
    this.#process.once("exit", () => {
      for (const { event, reject } of this.#waiting) reject(new Error(`ended before "${event}": ${this.#errors}`));
    });
    if (says === "none") this.#process.stdout.resume();
    else createInterface({ input: this.#process[says] }).on("line", (line) => this.#hear(line));
  }

  say(line: string): void {
    this.#process.stdin.write(`${line}\n`);
  }

  /** Resolves with the next line of that event. Rejects if the process ends first. */
  async hears(event: string): Promise<Line> {
    const index = this.#lines.findIndex((line) => line["event"] === event);
    const known = this.#lines[index];
    if (known !== undefined) {
      this.#lines.splice(index, 1);
      return known;
    }
    return new Promise((resolve, reject) => {
      if (this.#process.exitCode !== null) reject(new Error(`ended before "${event}": ${this.#errors}`));
      this.#waiting.push({ event, resolve, reject });
    });
  }

  /** Current and peak resident memory in MB, and CPU time in seconds, of the process and those that it started. */
  usage(): Usage {
    const [own, ...others] = this.usages();
    return others.reduce(
      (sum, one) => ({
        residentMb: sum.residentMb + one.residentMb,
        peakMb: sum.peakMb + one.peakMb,
        cpuSeconds: sum.cpuSeconds + one.cpuSeconds,
      }),
      own,
    );
  }

  /** Of each by itself, the process first. */
  usages(): readonly [Usage, ...Usage[]] {
    const children = readFileSync(`/proc/${this.#process.pid}/task/${this.#process.pid}/children`, "utf8");
    const started = children.split(" ").filter((pid) => pid !== "");
    return [usageOf(String(this.#process.pid)), ...started.map(usageOf)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await ended;
  }

  #hear(text: string): void {
    const line: Line = JSON.parse(text);
    const index = this.#waiting.findIndex((one) => one.event === line["event"]);
    const waiting = this.#waiting[index];
    if (waiting === undefined) this.#lines.push(line);
    else {
      this.#waiting.splice(index, 1);
      waiting.resolve(line);
    }
  }
}

function usageOf(pid: string): Usage {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kb = (key: string): number => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const ticks = Number(stat[11] ?? 0) + Number(stat[12] ?? 0);
  return { residentMb: kb("VmRSS") / 1024, peakMb: kb("VmHWM") / 1024, cpuSeconds: ticks / 100 };
}

/** Sends a command and waits for an event. */
export async function tell(peer: Peer, command: string, event: string): Promise<Line> {
  peer.say(command);
  return peer.hears(event);
}

/** Waits until a process is idle, because processing ACKs is part of a server's work. */
export async function quiet(peer: Peer): Promise<void> {
  let { cpuSeconds } = peer.usage();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 150));
    const now = peer.usage().cpuSeconds;
    if (now - cpuSeconds < 0.02) return;
    cpuSeconds = now;
  }
}
