import { join, resolve } from "node:path";
import type { ResponseFormat } from "@xdskit/envoy-api";
import type { Node } from "@xdskit/protocol";

/** A directory that holds a node's view as files, for clients that use `path_config_source`. */
export interface FileOutput {
  /**
   * The directory, created if missing. One writer uses it at a time. Paths inside resources point into it, so clients
   * must see it under the same path.
   */
  readonly directory: string;
  /**
   * The file format.
   * @default "yaml"
   */
  readonly format?: ResponseFormat;
  /**
   * The node whose view is written.
   * @default a node without identity
   */
  readonly node?: Partial<Pick<Node, "id" | "cluster" | "locality" | "metadata">>;
  /**
   * Rewrites config sources inside resources to point at these files.
   * @default they are written unchanged
   */
  readonly rewriteSources?: boolean;
  /**
   * Writes each generation into its own directory and swaps the link `..data` to it, as Kubernetes volumes do; clients
   * watch the directory.
   * @default each file is replaced on its own
   */
  readonly symlinks?: boolean;
  /** The API version of the written resources. */
  readonly apiVersion?: "v2" | "v3";
  /**
   * Milliseconds that clients get to load a changed file before files that depend on it are written.
   * @default 250
   */
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

/** The folder of the writer's own data, which clients do not read. */
export function privateFolderOf(directory: string): string {
  return join(directory, ".xds-export");
}
