import { join, resolve } from "node:path";
import type { ResponseFormat } from "@xdskit/envoy-api";
import type { Node } from "@xdskit/protocol";
import type { OptionProblem } from "./error.ts";

/** A directory into which a node's view is written, for clients that follow files instead of asking a server. */
export interface FileOutput {
  /** Made if need be. One writer uses it at a time. Paths inside resources lead to it, so clients have to see it there. */
  readonly directory: string;
  /** Default: `yaml`. */
  readonly format?: ResponseFormat;
  /** The node whose view is written. Default: one that does not say who it is. */
  readonly node?: Partial<Pick<Node, "id" | "cluster" | "locality" | "metadata">>;
  /** Points the config sources inside resources at these files. Default: they are written as they are. */
  readonly rewriteSources?: boolean;
  /**
   * Writes each generation into a directory of its own and swaps the link `..data` to it, as volumes of Kubernetes do; clients watch
   * the directory. Default: each file is replaced by itself.
   */
  readonly symlinks?: boolean;
  /** Writes the resources of v2 in place of those of v3. */
  readonly apiVersion?: "v2" | "v3";
  /** Milliseconds in which a client has taken a change that it can see: what depends on that is written after. Default 250. */
  readonly settleMs?: number;
}

/** A `FileOutput` with every default filled in. */
export interface CheckedFileOutput extends Required<FileOutput> {}

const DEFAULT_SETTLE_MS = 250;

/** Fills in the defaults. */
export function checkFileOutput(output: FileOutput): CheckedFileOutput {
  return {
    directory: resolve(output.directory),
    format: output.format ?? "yaml",
    node: output.node ?? {},
    rewriteSources: output.rewriteSources ?? false,
    symlinks: output.symlinks ?? false,
    apiVersion: output.apiVersion ?? "v3",
    settleMs: output.settleMs ?? DEFAULT_SETTLE_MS,
  };
}

const FORMATS: readonly string[] = ["yaml", "json", "pb", "pb_text"];

/** Everything that is wrong with the directories. */
export function findFileOutputProblems(outputs: readonly FileOutput[]): readonly OptionProblem[] {
  const seen = new Set<string>();
  return outputs.flatMap(({ directory, format = "yaml", settleMs = 0 }, index): readonly OptionProblem[] => {
    const path = `files[${index}]`;
    const problems: OptionProblem[] = [];
    if (directory === "") problems.push({ path: `${path}.directory`, message: "expected a directory, got nothing" });
    else if (seen.has(resolve(directory)))
      problems.push({ path: `${path}.directory`, message: `expected each directory once, got ${directory} again` });
    seen.add(resolve(directory));
    if (!FORMATS.includes(format))
      problems.push({ path: `${path}.format`, message: `expected one of ${FORMATS.join(", ")}, got ${format}` });
    if (!(Number.isFinite(settleMs) && settleMs >= 0))
      problems.push({ path: `${path}.settleMs`, message: `expected milliseconds from 0, got ${settleMs}` });
    return problems;
  });
}

/** Where what belongs to the writer and to no client is kept. */
export function privateFolderOf(directory: string): string {
  return join(directory, ".xds-export");
}
