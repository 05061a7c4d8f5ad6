import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { until } from "./fake-listener.ts";

const running = new Set<ChildProcess>();

/** A module of the built client, for programs that test what no one else may use. */
export function builtModule(path: string): string {
  return JSON.stringify(fileURLToPath(new URL(`../../dist/${path}.js`, import.meta.url)));
}

/** Runs a program in TypeScript with the built package; resolves with what it printed, warnings too, once it has ended by itself and well. */
export async function run(program: string): Promise<string> {
  const text = `
    import { createXdsClient, Cluster } from "@xdskit/client";
    import { createEnvoyApi } from "@xdskit/envoy-api";
    ${program}`;
  const { outputText } = transpileModule(text, {
    compilerOptions: { target: ScriptTarget.ES2022, module: ModuleKind.ESNext },
  });
  return await new Promise((resolve, reject) => {
    const args = ["--input-type=module", "--eval", outputText];
    execFile(process.execPath, args, { timeout: 60_000, cwd: import.meta.dirname }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr);
      else reject(error);
    });
  });
}

/** A program that runs until it is ended. */
export interface RunningProgram {
  readonly printed: () => string;
  /** Waits until it printed something. */
  prints(text: string): Promise<void>;
  /** Ends it at once, whatever it is doing. */
  kill(): Promise<void>;
}

/** Starts a program; `limit` are commands of a shell that it is started in. */
export function startProgram(program: string, limit: string = ""): RunningProgram {
  const child = spawn(
    "/bin/sh",
    ["-c", `${limit}\nexec "$0" --input-type=module --eval "$1"`, process.execPath, program],
    {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  running.add(child);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {
    printed: () => text,
    prints: (wanted) => until(`it prints ${wanted}`, () => text.includes(wanted), 15_000),
    async kill() {
      running.delete(child);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** Ends what still runs. */
export function killPrograms(): void {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
}
