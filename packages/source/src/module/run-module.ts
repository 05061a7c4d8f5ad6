import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { ModuleAnswer, ModuleFailure, ModuleInput, ModuleNote } from "./messages.ts";

/** Worker threads run built code; the package is two folders above both `src` and `dist` modules. */
const ENTRY = new URL("../../dist/module/worker.js", import.meta.url);
/** Heap limit of a module's thread, so that a leak ends the thread instead of the process. */
const MAX_HEAP_MIB = 2048;

/** The result of a run. */
export interface ModuleRun {
  readonly outcome:
    | ModuleAnswer
    | { readonly kind: "timeout" }
    /** The thread ended without a result. */
    | { readonly kind: "ended"; readonly message: string };
  /** URLs of all files of the module graph, including missing ones. */
  readonly urls: ReadonlySet<string>;
}

/** Options of a run. */
export interface RunOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with the module's output. */
  readonly onOutput: (text: string) => void;
}

/**
 * Runs a module in a fresh thread with fresh modules: no state of an earlier run remains, and an endless loop ends with
 * the thread.
 */
export async function runModule(url: string, { timeoutMs, signal, onOutput }: RunOptions): Promise<ModuleRun> {
  const { port1: heard, port2: notes } = new MessageChannel();
  const input: ModuleInput = { url, notes };
  const worker = new Worker(ENTRY, {
    name: "xdskit-module",
    workerData: input,
    transferList: [notes],
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  for (const stream of [worker.stdout, worker.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => onOutput(text));
  }
  const outcome = await firstWord(worker, timeoutMs, signal);
  await worker.terminate();
  const { urls, failure } = notesIn(heard);
  heard.close();
  const isFailed = outcome.kind === "failed";
  return { outcome: isFailed && failure !== undefined ? { kind: "failed", failure } : outcome, urls };
}

function firstWord(worker: Worker, timeoutMs: number, signal: AbortSignal): Promise<ModuleRun["outcome"]> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ kind: "timeout" }), timeoutMs);
    const stop = (): void => resolve({ kind: "ended", message: "it was stopped" });
    signal.addEventListener("abort", stop, { once: true });
    const end = (outcome: ModuleRun["outcome"]): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve(outcome);
    };
    worker.on("message", (answer: ModuleAnswer) => end(answer));
    worker.on("error", (error: unknown) => end(thrown(error)));
    worker.on("exit", (code) => end({ kind: "ended", message: `it ended its thread with code ${code}` }));
    if (signal.aborted) stop();
  });
}

/** A failure from an exception that no caller caught, such as one in a timer. */
function thrown(error: unknown): ModuleRun["outcome"] {
  if (!(error instanceof Error)) return { kind: "ended", message: String(error) };
  const { message, stack = "" } = error;
  return { kind: "failed", failure: { message, stack, isSyntax: false } };
}

function notesIn(port: MessagePort): { urls: ReadonlySet<string>; failure: ModuleFailure | undefined } {
  const urls = new Set<string>();
  let failure: ModuleFailure | undefined;
  for (;;) {
    const next = receiveMessageOnPort(port) as { readonly message: ModuleNote } | undefined;
    if (next === undefined) return { urls, failure };
    const note = next.message;
    if (note.kind === "file") urls.add(note.url);
    else failure ??= note.failure;
  }
}
