import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { DirectoryReading } from "../directory/directory-reading.ts";
import { syncFileSystem } from "../directory/file-system.ts";
import type { Load } from "../loaded-state.ts";
import { type LoadChange, LoadTeller } from "./load-change.ts";
import type { WorkerAnswer, WorkerInput, WorkerRequest } from "./messages.ts";

/** Reads a directory for another thread, which receives the changes part by part so that it has time for other work. */
class Worker {
  readonly #port: MessagePort;
  readonly #reading: DirectoryReading;
  readonly #teller = new LoadTeller();
  #told: Load | undefined;
  #toldFolders: ReadonlyMap<string, string> = new Map();
  #goOn: (() => void) | undefined;

  constructor(port: MessagePort, { descriptors, ...options }: WorkerInput) {
    this.#port = port;
    this.#reading = new DirectoryReading({
      ...options,
      api: createEnvoyApi({ descriptors }),
      fileSystem: syncFileSystem,
    });
    port.on("message", (request: WorkerRequest) => {
      if (request.kind === "next") this.#goOn?.();
      else if (request.kind === "places") void this.#place(request);
      else void this.#look(request).catch((error: unknown) => this.#tell({ kind: "threw", error }));
    });
  }

  async #look({ paths, isPatient, wantsProgress }: Extract<WorkerRequest, { kind: "look" }>): Promise<void> {
    const { load, changing } = await this.#reading.look(paths, {
      isPatient,
      ...(wantsProgress && { onProgress: (progress) => this.#tell({ kind: "progress", progress }) }),
    });
    const change = load === this.#told ? undefined : await this.#tellParts(load);
    this.#told = load;
    this.#tell({ kind: "looked", changing, change, folders: this.#newFolders() });
  }

  async #place({ id, asked }: Extract<WorkerRequest, { kind: "places" }>): Promise<void> {
    const places = await this.#reading.placesOf(asked).catch(() => asked.map(() => undefined));
    this.#tell({ kind: "placed", id, places });
  }

  async #tellParts(load: Load): Promise<LoadChange> {
    const parts = this.#teller.tell(load);
    for (;;) {
      const { done, value } = parts.next();
      if (done === true) return value;
      const taken = new Promise<void>((resolve) => {
        this.#goOn = resolve;
      });
      this.#tell({ kind: "part", part: value }, value.kind === "resources" ? [value.packed.bytes.buffer] : []);
      await taken;
    }
  }

  #newFolders(): ReadonlyMap<string, string> | undefined {
    const { folders } = this.#reading;
    const told = this.#toldFolders;
    if (told.size === folders.size && [...folders].every(([path, real]) => told.get(path) === real)) return undefined;
    this.#toldFolders = new Map(folders);
    return this.#toldFolders;
  }

  #tell(answer: WorkerAnswer, transfer: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(answer, transfer);
  }
}

// Does nothing outside a worker thread.
if (parentPort !== null) new Worker(parentPort, workerData as WorkerInput);
