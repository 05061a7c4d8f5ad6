import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { atEnd } from "./ends.ts";
import { until } from "./until.ts";

/** A program that runs, at most until the test is over. */
export interface RunningProgram {
  /** What it printed so far, errors and warnings too. */
  readonly printed: () => string;
  /** The first match in what it prints; waits for it. */
  find(pattern: RegExp): Promise<RegExpExecArray>;
  /** Its exit code, once it and all that it printed are there; null if a signal ended it. */
  readonly exit: Promise<number | null>;
  /** Asks it to end; its exit code. */
  stop(): Promise<number | null>;
}

/** A file of this repository, such as `examples/…`. */
export function fileOf(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}

/** A module of the built client, for programs that test what no one else may use. */
export function builtModule(path: string): string {
  return JSON.stringify(fileOf(`packages/client/dist/${path}.js`));
}

/** Starts a script of this repository, as its page says. */
export function startScript(
  path: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): RunningProgram {
  return start([process.execPath, fileOf(path), ...args], env);
}

/** Starts a program that is no file; `limit` are commands of a shell that it is started in. */
export function startProgram(program: string, limit: string = ""): RunningProgram {
  const node = [process.execPath, "--input-type=module", "--eval", program];
  return start(["/bin/sh", "-c", `${limit}\nexec "$0" "$@"`, ...node]);
}

/** Runs a program in TypeScript with the built package; resolves with what it printed once it has ended by itself and well. */
export async function run(program: string): Promise<string> {
  const text = `
    import { createXdsClient, Cluster } from "@xdskit/client";
    import { createEnvoyApi } from "@xdskit/envoy-api";
    ${program}`;
  const { outputText } = transpileModule(text, {
    compilerOptions: { target: ScriptTarget.ES2022, module: ModuleKind.ESNext },
  });
  const { exit, printed } = startProgram(outputText);
  if ((await exit) !== 0) throw new Error(`the program failed:\n${printed()}`);
  return printed();
}

function start(command: readonly string[], env: Readonly<Record<string, string>> = {}): RunningProgram {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: import.meta.dirname,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const output of [child.stdout, child.stderr])
    output.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  atEnd(() => {
    child.kill("SIGKILL");
    return exit;
  });
  return {
    printed: () => text,
    async find(pattern) {
      await until(`it prints ${pattern.source}`, () => pattern.test(text));
      const match = pattern.exec(text);
      if (match === null) throw new Error(`expected ${pattern.source}, got ${text}`);
      return match;
    },
    exit,
    stop() {
      child.kill("SIGTERM");
      return exit;
    },
  };
}
