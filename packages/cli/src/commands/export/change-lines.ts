import type { FileExport } from "@xdskit/server";
import { formatJsonLine } from "../../output/json.ts";
import { plural } from "../../output/problems.ts";
import type { CommandContext } from "../context.ts";

/** File names in a line of text; the rest is counted. */
const MAX_NAMED = 8;

/** A line of JSON that `xds export --watch` prints. */
export type ExportLine =
  | {
      readonly event: "written";
      readonly time: string;
      readonly written: readonly string[];
      readonly removed: readonly string[];
      readonly took_ms: number;
    }
  | { readonly event: "in-sync"; readonly time: string; readonly resources: number }
  | { readonly event: "problem"; readonly time: string; readonly message: string };

/** Prints each write: JSON lines in a pipe, sentences in a terminal. */
export class ChangeLines {
  readonly #context: CommandContext;

  constructor(writing: FileExport, context: CommandContext) {
    this.#context = context;
    writing.on("files-written", ({ written, removed, tookMs }) => {
      this.#print({ event: "written", time: this.#now(), written, removed, took_ms: Math.round(tookMs * 10) / 10 });
    });
    writing.on("files-problem", ({ message }) => this.#print({ event: "problem", time: this.#now(), message }));
  }

  /** Prints that the files hold the whole directory for the first time. */
  tellInSync(resources: number): void {
    this.#print({ event: "in-sync", time: this.#now(), resources });
  }

  #now(): string {
    return this.#context.io.now().toISOString();
  }

  #print(line: ExportLine): void {
    const { stdout } = this.#context.io;
    stdout.write(stdout.isTerminal ? this.#sentence(line) : formatJsonLine(line));
  }

  #sentence(line: ExportLine): string {
    const colors = this.#context.colorsOf(this.#context.io.stdout);
    const time = colors.dim(line.time.slice(11, 19));
    switch (line.event) {
      case "written": {
        const parts = [
          ...(line.written.length > 0 ? [`wrote ${listFiles(line.written)}`] : []),
          ...(line.removed.length > 0 ? [`removed ${listFiles(line.removed)}`] : []),
        ];
        return `${time} ${parts.join(", ")} ${colors.dim(`(${line.took_ms} ms)`)}\n`;
      }
      case "in-sync":
        return `${time} ${colors.green("the files are the whole directory")}: ${plural(line.resources, "resource")}\n`;
      case "problem":
        return `${time} ${colors.red("nothing more is written")}: ${line.message}; it is tried again\n`;
    }
  }
}

function listFiles(paths: readonly string[]): string {
  const rest = paths.length - MAX_NAMED;
  return `${paths.slice(0, MAX_NAMED).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
