import { parentPort, workerData } from "node:worker_threads";
import { formatPath } from "@xdskit/protocol/internal";
import { registerModuleHooks } from "./hooks.ts";
import type { ModuleAnswer, ModuleInput } from "./messages.ts";

/** Runs a module and returns what it exports. */
async function runModule({ url, notes }: ModuleInput): Promise<ModuleAnswer> {
  process.setSourceMapsEnabled(true);
  registerModuleHooks(notes);
  let exported: unknown;
  try {
    const module = (await import(url)) as Readonly<Record<string, unknown>>;
    if (!("default" in module)) return { kind: "invalid", message: "expected a default export, got none" };
    const value: unknown = module["default"];
    exported = typeof value === "function" ? await (value as () => unknown)() : await value;
  } catch (cause) {
    if (!(cause instanceof Error)) return { kind: "failed", failure: { message: String(cause), isSyntax: false } };
    const { message, stack = "" } = cause;
    return { kind: "failed", failure: { message, stack, isSyntax: cause instanceof SyntaxError } };
  }
  const problem = findNonJson(exported, [], new Set());
  if (problem !== undefined) return { kind: "invalid", message: problem };
  return { kind: "value", json: JSON.stringify(exported ?? null, writeBigInt) };
}

/** ProtoJSON writes 64-bit numbers as strings. */
function writeBigInt(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

/** Finds values that JSON would omit silently, and cycles. */
function findNonJson(value: unknown, path: readonly (string | number)[], above: Set<object>): string | undefined {
  if (typeof value === "function" || typeof value === "symbol") {
    return `expected a value that can be written as JSON at ${formatPath(path)}, got a ${typeof value}`;
  }
  if (typeof value !== "object" || value === null || "toJSON" in value) return undefined;
  if (above.has(value))
    return `expected a value that can be written as JSON at ${formatPath(path)}, got one inside itself`;
  above.add(value);
  for (const [key, one] of Object.entries(value)) {
    const problem = findNonJson(one, [...path, Array.isArray(value) ? Number(key) : key], above);
    if (problem !== undefined) return problem;
  }
  above.delete(value);
  return undefined;
}

// This module is the entry point of a thread; imported elsewhere, it does nothing.
if (parentPort !== null) parentPort.postMessage(await runModule(workerData as ModuleInput));
