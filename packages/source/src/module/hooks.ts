import { readFileSync } from "node:fs";
import nodeModule, {
  createRequire,
  type LoadFnOutput,
  type LoadHook,
  type LoadHookContext,
  type ResolveHook,
  type ResolveHookContext,
} from "node:module";
import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";
import type * as TypeScript from "typescript";
import type { ModuleNote } from "./messages.ts";

/**
 * Hooks for the modules that a thread loads. They report which files are imported, and strip the types of TypeScript where Node does not do so
 * itself.
 */
let notes: MessagePort | undefined;

/** Called in the hooks thread that `module.register` starts. */
export function initialize(port: MessagePort): void {
  notes = port;
}

/** Hooks in the thread itself, which Node has since 22.15; the types of Node 20 do not. */
type RegisterHooks = (hooks: {
  readonly resolve: (specifier: string, context: ResolveHookContext, next: NextSync) => unknown;
  readonly load: (url: string, context: LoadHookContext, next: NextSync) => unknown;
}) => void;
type NextSync = (specifier: string, context: object) => unknown;

/** Registers the hooks for the modules that this thread imports from now on. */
export function registerModuleHooks(port: MessagePort): void {
  const { registerHooks } = nodeModule as { readonly registerHooks?: RegisterHooks };
  if (registerHooks === undefined) {
    nodeModule.register("./hooks.js", { parentURL: import.meta.url, data: port, transferList: [port] });
    return;
  }
  initialize(port);
  registerHooks({
    resolve: (specifier, context, next) => {
      try {
        return next(specifier, context);
      } catch (cause) {
        reportMissing(specifier, context);
        throw cause;
      }
    },
    load: (url, context, next) => loadOurs(url) ?? next(url, context),
  });
}

function tell(note: ModuleNote): void {
  notes?.postMessage(note);
}

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context);
  } catch (cause) {
    reportMissing(specifier, context);
    throw cause;
  }
};

export const load: LoadHook = async (url, context, nextLoad) => loadOurs(url) ?? (await nextLoad(url, context));

/** Reports the missing file too, so that its creation triggers a load. */
function reportMissing(specifier: string, { parentURL }: ResolveHookContext): void {
  if (/^(?:\.{0,2}\/|file:)/.test(specifier)) tell({ kind: "file", url: new URL(specifier, parentURL).href });
}

/** Loads what Node cannot load itself; undefined for everything else. */
function loadOurs(url: string): LoadFnOutput | undefined {
  if (!url.startsWith("file:")) return undefined;
  tell({ kind: "file", url });
  const isTypeScript = /\.m?ts$/.test(new URL(url).pathname);
  if (!isTypeScript || readsTypeScript()) return undefined;
  return { format: "module", shortCircuit: true, source: withoutTypes(url) };
}

/** Node reads TypeScript since 22.18 and 23.6. */
function readsTypeScript(): boolean {
  return "typescript" in process.features && process.features.typescript !== false;
}

/** Compiles the module to JavaScript with the project's own compiler, else with ours. */
function withoutTypes(url: string): string {
  const ts = compilerFor(url);
  if (ts === undefined) {
    const hint = "use Node 22.18 or later, install typescript@6 beside the module, or write it in JavaScript";
    const message = `Node ${process.versions.node} does not read TypeScript`;
    return fail({ message, isSyntax: true, hint, at: { url, line: 1, column: 1 } });
  }
  if (!("transpileModule" in ts)) {
    const message = `typescript ${(ts as { readonly version?: string }).version ?? "7"} has no function that strips types`;
    return fail({
      message,
      isSyntax: true,
      hint: "install typescript@6, or use Node 22.18 or later",
      at: { url, line: 1, column: 1 },
    });
  }
  const { outputText, diagnostics = [] } = ts.transpileModule(readFileSync(fileURLToPath(url), "utf8"), {
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
