import { messageNameOf, type TypeUrl } from "@xdskit/protocol";
import type { FileExport, ServerEvents } from "@xdskit/server";
import type { Colors } from "../../output/color.ts";
import { plural } from "../../output/problems.ts";

/** Notes of one kind that are printed; the rest is counted. */
const MAX_TOLD = 50;

type SourceEvent = ServerEvents["files-source"];
type UnfaithfulEvent = ServerEvents["files-unfaithful"];

/** Counts the files written and removed, and collects notes for the summary. */
export class ExportRecord {
  /** Resolves with the message when files cannot be written. */
  readonly firstProblem: Promise<string>;
  readonly #written = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #sources = new Map<string, SourceEvent>();
  readonly #unfaithful = new Map<string, UnfaithfulEvent>();

  constructor(writing: FileExport) {
    writing.on("files-written", ({ written, removed }) => {
      for (const path of written) this.#written.add(path);
      for (const path of removed) this.#removed.add(path);
    });
    writing.on("files-source", (event) => this.#sources.set(`${placeOf(event)} ${event.path}`, event));
    writing.on("files-unfaithful", (event) => this.#unfaithful.set(`${placeOf(event)} ${event.message}`, event));
    this.firstProblem = new Promise((resolve) => {
      writing.on("files-problem", ({ message }) => resolve(message));
    });
  }

  get written(): number {
    return this.#written.size;
  }

  get removed(): number {
    return this.#removed.size;
  }

  /** The config sources that now point to files. */
  get rewritten(): readonly SourceEvent[] {
    return [...this.#sources.values()].filter(({ file }) => file !== undefined);
  }

  /**
   * Warnings about config sources that still need a server, and about data lost in the format; empty if there are none.
   */
  formatNotes(colors: Colors): string {
    const kept = [...this.#sources.values()].filter(({ file }) => file === undefined);
    const lines = [
      ...told(kept, "sources", (event) => `${placeOf(event)}: ${event.path} still asks a server${whyKept(event)}`),
      ...told(
        [...this.#unfaithful.values()],
        "losses",
        (event) => `${placeOf(event)}: ${event.message}; --format pb keeps it`,
      ),
    ];
    return lines.map((line) => `xds: ${colors.yellow("warning")}: ${line}\n`).join("");
  }
}

function told<T>(events: readonly T[], noun: string, format: (event: T) => string): readonly string[] {
  const rest = events.length - MAX_TOLD;
  return [...events.slice(0, MAX_TOLD).map(format), ...(rest > 0 ? [`${rest} more ${noun} like these`] : [])];
}

/** `Listener http`. */
function placeOf({ type, name }: { readonly type: TypeUrl; readonly name: string }): string {
  return `${shortNameOf(type)} ${name}`;
}

function shortNameOf(type: TypeUrl): string {
  return messageNameOf(type).replace(/^.*\./, "");
}

function whyKept({ refersTo, referred }: SourceEvent): string {
  if (refersTo === undefined) return ": what is asked there cannot come from a file";
  const asked = shortNameOf(refersTo);
  if (referred === undefined && asked === "RouteConfiguration")
    return ": the routes of several scopes cannot come from one file";
  return `: Envoy asks for a ${asked} over delta only`;
}

/** `3 files written, 1 removed`. */
export function formatCounts({ written, removed }: ExportRecord): string {
  return `${plural(written, "file")} written${removed === 0 ? "" : `, ${removed} removed`}`;
}
