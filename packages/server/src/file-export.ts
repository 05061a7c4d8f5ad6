import { createBodyEncoder } from "@xdskit/envoy-api/internal";
import type { Commit, NodeMapping } from "@xdskit/protocol";
import { checkOptions } from "./check-options.ts";
import { checkFileOutput, type FileOutput } from "./file-output.ts";
import type { Hub } from "./hub/hub.ts";
import type { ServerEvents } from "./hub/listeners.ts";
import { createTelemetry } from "./observe/telemetry.ts";
import type { ManagementServerOptions } from "./options.ts";
import { createExporter, createHub } from "./server-parts.ts";
import type { FileExporter } from "./transport/files/exporter.ts";

/** Options of `createFileExport`. */
export interface FileExportOptions extends Pick<ManagementServerOptions, "api" | "nodeMapping" | "dialect"> {
  readonly files: FileOutput;
}

/** Writes the view of a node into files, without a listening server (S-FS-14, S-FS-15). */
export interface FileExport extends AsyncDisposable {
  /**
   * Locks the directory and starts. Throws an `XdsError` (FILES_FAILED) if the directory is not writable or another
   * process writes to it.
   */
  start(): Promise<void>;
  /** Applies a commit as a whole and returns its revision. Nothing is written before the first one. */
  commit(commit: Pick<Commit, "changes" | "nodeMapping">): number;
  setNodeMapping(nodeMapping: NodeMapping): number;
  /**
   * Resolves with the number of resources once the files hold the whole view; with undefined if it was closed before.
   */
  whenInSync(): Promise<number | undefined>;
  /** Calls the listener for every event of a kind, until the returned function is called. */
  on<K extends keyof ServerEvents>(kind: K, listener: (event: ServerEvents[K]) => void): () => void;
  /** Stops writing. The files stay. */
  close(): Promise<void>;
  readonly revision: number;
}

/**
 * Creates a file export; nothing is written until `start`. Throws an `XdsError` (OPTIONS_INVALID) that names every
 * mistake.
 */
export function createFileExport({ files, ...options }: FileExportOptions): FileExport {
  // With one stream to flush there is nothing to gather, and `whenInSync` counts on changes that are sent at once.
  const checked = checkOptions({ ...options, files: [files], requireNode: false, limits: { maxDebounceMs: 0 } });
  const hub = createHub(checked, {
    ...{ encoder: createBodyEncoder({ controlPlane: "" }), telemetry: createTelemetry() },
  });
  return new PortlessExport(hub, createExporter(checkFileOutput(files), checked.api, hub));
}

class PortlessExport implements FileExport {
  readonly #hub: Hub;
  readonly #exporter: FileExporter;

  constructor(hub: Hub, exporter: FileExporter) {
    this.#hub = hub;
    this.#exporter = exporter;
  }

  get revision(): number {
    return this.#hub.revision;
  }

  async start(): Promise<void> {
    await this.#exporter.start();
  }

  commit({ changes, nodeMapping }: Pick<Commit, "changes" | "nodeMapping">): number {
    return this.#hub.commit({ changes }, nodeMapping && { nodeMapping });
  }

  setNodeMapping(nodeMapping: NodeMapping): number {
    return this.#hub.replace({ nodeMapping });
  }

  async whenInSync(): Promise<number | undefined> {
    return (await this.#exporter.whenInSync()) ? this.#exporter.resources : undefined;
  }

  on<K extends keyof ServerEvents>(kind: K, listener: (event: ServerEvents[K]) => void): () => void {
    return this.#hub.listeners.on(kind, listener);
  }

  async close(): Promise<void> {
    await this.#exporter.close();
    this.#hub.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
