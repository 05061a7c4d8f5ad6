import { readFile } from "node:fs/promises";
import { createRequire, type LoadHook, type ResolveHook } from "node:module";
import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";
import type * as TypeScript from "typescript";
import type { ModuleNote } from "./messages.ts";

/**
 * Module hooks, which run in a thread of their own: they report imported files, and compile TypeScript where Node
 * cannot.
 */
let notes: MessagePort | undefined;

export function initialize(port: MessagePort): void {
  notes = port;
}

function tell(note: ModuleNote): void {
  notes?.postMessage(note);
}

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context);
  } catch (cause) {
    // Reports the missing file too, so that its creation triggers a load.
    const isRelative = /^(?:\.{0,2}\/|file:)/.test(specifier);
    if (isRelative) tell({ kind: "file", url: new URL(specifier, context.parentURL).href });
    throw cause;
  }
};

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!url.startsWith("file:")) return await nextLoad(url, context);
  tell({ kind: "file", url });
  const isTypeScript = /\.m?ts$/.test(new URL(url).pathname);
  if (!isTypeScript || readsTypeScript()) return await nextLoad(url, context);
  return { format: "module", shortCircuit: true, source: await withoutTypes(url) };
};

/** Node reads TypeScript since 22.18 and 23.6. */
function readsTypeScript(): boolean {
  return "typescript" in process.features && process.features.typescript !== false;
}

/** Compiles the module to JavaScript with the project's own compiler, else with ours. */
async function withoutTypes(url: string): Promise<string> {
  const ts = compilerFor(url);
  if (ts === undefined) {
    const hint = "use Node 22.18 or later, install typescript beside the module, or write it in JavaScript";
    const message = `Node ${process.versions.node} does not read TypeScript`;
    return fail({ message, isSyntax: true, hint, at: { url, line: 1, column: 1 } });
  }
  const { outputText, diagnostics = [] } = ts.transpileModule(await readFile(fileURLToPath(url), "utf8"), {
    fileName: fileURLToPath(url),
    reportDiagnostics: true,
    compilerOptions: {
      ...{ module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      ...{ verbatimModuleSyntax: true, inlineSourceMap: true },
    },
  });
  const [first] = diagnostics;
  if (first === undefined) return outputText;
  const at = first.file && ts.getLineAndCharacterOfPosition(first.file, first.start ?? 0);
  const place = { url, line: (at?.line ?? 0) + 1, column: (at?.character ?? 0) + 1 };
  return fail({ message: ts.flattenDiagnosticMessageText(first.messageText, " "), isSyntax: true, at: place });
}

function compilerFor(url: string): typeof TypeScript | undefined {
  for (const from of [url, import.meta.url]) {
    try {
      return createRequire(from)("typescript") as typeof TypeScript;
    } catch {
      // not installed here; try the other place
    }
  }
  return undefined;
}

function fail(failure: Extract<ModuleNote, { kind: "syntax" }>["failure"]): never {
  tell({ kind: "syntax", failure });
  throw new SyntaxError(failure.message);
}
