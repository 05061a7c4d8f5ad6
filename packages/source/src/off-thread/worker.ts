import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl, type Resource } from "@xdskit/protocol";
import { DirectoryReading } from "../directory/directory-reading.ts";
import { syncFileSystem } from "../directory/file-system.ts";
import type { Load } from "../loaded-state.ts";
import { type LoadChange, type LoadPart, LoadTeller } from "./load-change.ts";
import { STARTED_AHEAD, type WorkerAnswer, type WorkerInput, type WorkerRequest } from "./messages.ts";
import { createForPacking, packInParts } from "./packed-resources.ts";

/** So many resources are sent together while others are read. */
const SENT_AHEAD = 500;
const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");

/** Reads a directory for another thread, which receives the changes part by part so that it has time for other work. */
class Worker {
  readonly #port: MessagePort;
  readonly #reading: DirectoryReading;
  readonly #teller = new LoadTeller();
  #told: Load | undefined;
  #toldFolders: ReadonlyMap<string, string> = new Map();
  #goOn: (() => void) | undefined;
  /** What this look has read and sent so far. */
  #sent: Resource[] = [];
  /** What it has read and not sent. */
  #read: Resource[] = [];

  constructor(port: MessagePort, { descriptors: _, ...options }: WorkerInput, api: EnvoyApi) {
    this.#port = port;
    this.#reading = new DirectoryReading({
      ...options,
      api,
      fileSystem: syncFileSystem,
      create: createForPacking,
      onResource: (resource) => this.#sendAhead(resource),
    });
    port.on("message", (request: WorkerRequest) => {
      if (request.kind === "next") this.#goOn?.();
      else if (request.kind === "places") void this.#place(request);
      else
        void this.#look(request).catch((error: unknown) => {
          this.#forgetRead();
          this.#tell({ kind: "threw", error });
        });
    });
  }

  async #look({ paths, isPatient, wantsProgress }: Extract<WorkerRequest, { kind: "look" }>): Promise<void> {
    const { load, changing } = await this.#reading.look(paths, {
      isPatient,
      ...(wantsProgress && { onProgress: (progress) => this.#tell({ kind: "progress", progress }) }),
    });
    const change = load === this.#told ? undefined : await this.#tellParts(load);
    this.#told = load;
    this.#forgetRead();
    this.#tell({ kind: "looked", changing, change, folders: this.#newFolders() });
  }

  async #place({ id, asked }: Extract<WorkerRequest, { kind: "places" }>): Promise<void> {
    const places = await this.#reading.placesOf(asked).catch(() => asked.map(() => undefined));
    this.#tell({ kind: "placed", id, places });
  }

  /** Resources are received and unpacked while others are read; what takes effect of them comes with the load. */
  #sendAhead(resource: Resource): void {
    this.#read.push(resource);
    if (this.#read.length < SENT_AHEAD) return;
    for (const packed of packInParts(this.#read)) this.#tellPart({ kind: "resources", packed }, false);
    for (const one of this.#read) this.#sent.push(one);
    this.#read = [];
  }

  #forgetRead(): void {
    this.#sent = [];
    this.#read = [];
  }

  async #tellParts(load: Load): Promise<LoadChange> {
    const parts = this.#teller.tell(load, this.#sent);
    for (;;) {
      const { done, value } = parts.next();
      if (done === true) return value;
      const taken = new Promise<void>((resolve) => {
        this.#goOn = resolve;
      });
      this.#tellPart(value, true);
      await taken;
    }
  }

  #tellPart(part: LoadPart, isAwaited: boolean): void {
    this.#tell({ kind: "part", part, isAwaited }, part.kind === "resources" ? [part.packed.bytes.buffer] : []);
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

/** Serves the thread that started this one, which says in its first message what to read. */
function serve(port: MessagePort): void {
  const builtIn = createEnvoyApi();
  port.once("message", (input: WorkerInput) => {
    const { descriptors } = input;
    new Worker(port, input, descriptors.length === 0 ? builtIn : createEnvoyApi({ descriptors }));
  });
  // Links the descriptors of the common types before they are needed.
  if (workerData === STARTED_AHEAD) builtIn.readResource({ "@type": CLUSTER, name: "any" });
}

// Does nothing outside a worker thread.
if (parentPort !== null) serve(parentPort);
