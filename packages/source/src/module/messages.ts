import type { MessagePort } from "node:worker_threads";

/** What a thread that runs a module is started with. */
export interface ModuleInput {
  /** Its file URL. */
  readonly url: string;
  /** Takes `ModuleNote`s, also of a thread that hangs. */
  readonly notes: MessagePort;
}

/** What is found out while the module graph is loaded. */
export type ModuleNote =
  /** A file of the graph, or one that an import looks for and does not find, as a URL. */
  { readonly kind: "file"; readonly url: string } | { readonly kind: "syntax"; readonly failure: ModuleFailure };

/** How a module ended. */
export type ModuleAnswer =
  /** The value of its default export, or what that returned, as JSON. */
  | { readonly kind: "value"; readonly json: string }
  | { readonly kind: "failed"; readonly failure: ModuleFailure }
  /** What it exports is no JSON value. */
  | { readonly kind: "invalid"; readonly message: string };

/** Why a module cannot be used. */
export interface ModuleFailure {
  readonly message: string;
  /** As the engine shows it, from which the place is read; undefined where the place is known. */
  readonly stack?: string;
  readonly isSyntax: boolean;
  readonly at?: { readonly url: string; readonly line: number; readonly column: number };
  readonly hint?: string;
}
