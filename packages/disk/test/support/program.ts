import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const WITHIN_MS = 30_000;
const running = new Set<ChildProcess>();

/** A program that runs until it is ended. */
export interface RunningProgram {
  readonly pid: number;
  readonly printed: () => string;
  /** Waits until it printed something. */
  prints(text: string): Promise<void>;
  /** Ends it at once, whatever it is doing. */
  kill(): Promise<void>;
}

/** The command line of a program that can take locks. */
export function commandOf(program: string): readonly [string, ...string[]] {
  const module = JSON.stringify(fileURLToPath(new URL("../../dist/index.js", import.meta.url)));
  const text = `import { acquireFileLock } from ${module};\n${program}`;
  return [process.execPath, "--input-type=module", "--eval", text];
}

export function startProgram([command = "", ...args]: readonly string[]): RunningProgram {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {
    pid: child.pid ?? 0,
    printed: () => text,
    async prints(wanted) {
      const signal = AbortSignal.timeout(WITHIN_MS);
      while (!text.includes(wanted)) await once(child.stdout, "data", { signal });
    },
    async kill() {
      running.delete(child);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      // Not only its exit: what it started in a namespace of its own dies after it.
      await once(child, "close");
    },
  };
}

/** Ends what still runs. */
export function killPrograms(): void {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
}
