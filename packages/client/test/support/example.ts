import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { until } from "./fake-listener.ts";

/** A script that runs, with what it printed so far, errors included. */
export interface RunningScript {
  readonly printed: () => string;
  /** The first match in what it prints. */
  find(pattern: RegExp): Promise<RegExpExecArray>;
  /** Asks it to end; the exit code. */
  stop(): Promise<number | null>;
  readonly exit: Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** A file of this repository, such as `examples/…`. */
export function fileOf(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}

/** Runs a script of this repository, as its page says. */
export function runScript(
  path: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): RunningScript {
  let text = "";
  const child = spawn(process.execPath, [fileOf(path), ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  for (const output of [child.stdout, child.stderr])
    output.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    printed: () => text,
    async find(pattern) {
      await until(`it prints ${pattern.source}`, () => pattern.test(text), 15_000);
      const match = pattern.exec(text);
      if (match === null) throw new Error(`expected ${pattern.source}, got ${text}`);
      return match;
    },
    stop() {
      child.kill("SIGTERM");
      return exit;
    },
    exit,
  };
}

/** Ends what is still running. */
export function stopScripts(): void {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
}
