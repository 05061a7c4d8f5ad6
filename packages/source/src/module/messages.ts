import type { MessagePort } from "node:worker_threads";

/** The input of the thread that runs a module. */
export interface ModuleInput {
  /** The module's file URL. */
  readonly url: string;
  /** Receives `ModuleNote`s, even while the thread hangs. */
  readonly notes: MessagePort;
}

/** A fact found while the module graph is loaded. */
export type ModuleNote =
  /** URL of a file of the graph, or of one that an import did not find. */
  { readonly kind: "file"; readonly url: string } | { readonly kind: "syntax"; readonly failure: ModuleFailure };

/** The result of running a module. */
export type ModuleAnswer =
  /** The default export, or what it returned, as JSON. */
  | { readonly kind: "value"; readonly json: string }
  | { readonly kind: "failed"; readonly failure: ModuleFailure }
  /** The export is not a JSON value. */
  | { readonly kind: "invalid"; readonly message: string };

/** Why a module failed. */
export interface ModuleFailure {
  readonly message: string;
  /** The engine's stack, from which the place is parsed; undefined if `at` is known. */
  readonly stack?: string;
  readonly isSyntax: boolean;
  readonly at?: { readonly url: string; readonly line: number; readonly column: number };
  readonly hint?: string;
}
