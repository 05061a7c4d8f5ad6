import type { Worker } from "node:worker_threads";
import type { Resource } from "@xdskit/protocol";
import type { HowToLook, Look } from "../directory/directory-reading.ts";
import { problem } from "../directory/file-system-problem.ts";
import type { Load } from "../loaded-state.ts";
import type { Problem } from "../problem.ts";
import type { AskedResource, ResourcePlace } from "../resource-places.ts";
import { LoadFollower } from "./load-change.ts";
import type { WorkerAnswer, WorkerInput, WorkerRequest } from "./messages.ts";
import { unpack } from "./packed-resources.ts";
import { takeThread } from "./reader-thread.ts";

/**
 * Reads a directory in a worker thread, which starts with the first look. If it ends unexpectedly, one look has a
 * problem and the next look starts another thread, which reads everything again.
 */
export class WorkerReading {
  readonly #input: WorkerInput;
  #thread: ReadingThread | undefined;
  /** The problem of a thread that ended between looks. */
  #ended: Problem | undefined;
  #folders: ReadonlyMap<string, string> = new Map();

  constructor(input: WorkerInput) {
    this.#input = input;
  }

  /** The real paths of folders by path, at the last look. */
  get folders(): ReadonlyMap<string, string> {
    return this.#folders;
  }

  /** One look at a time. Rejects if closed meanwhile. */
  async look(paths: ReadonlySet<string>, how: HowToLook): Promise<Look> {
    const untold = this.#ended;
    this.#ended = undefined;
    if (untold !== undefined) return failedLook(untold);
    const thread = this.#thread ?? this.#begin();
    const look = await thread.look(paths, how);
    this.#folders = thread.folders ?? this.#folders;
    return look;
  }

  /** Where resources are in the files that the thread has read; undefined where that is not known. */
  async placesOf(asked: readonly AskedResource[]): Promise<readonly (ResourcePlace | undefined)[]> {
    return (await this.#thread?.placesOf(asked)) ?? asked.map(() => undefined);
  }

  /** Ends the thread, if there is one. */
  close(): void {
    this.#thread?.close();
    this.#thread = undefined;
  }

  #begin(): ReadingThread {
    const thread = new ReadingThread(this.#input, (untold) => {
      this.#thread = undefined;
      this.#ended = untold;
    });
    this.#thread = thread;
    return thread;
  }
}

/** A pending look. */
interface Waiting {
  readonly how: HowToLook;
  readonly resources: Resource[];
  readonly problems: Problem[];
  resolve(look: Look): void;
  reject(error: unknown): void;
}

/** One thread, from start to end. */
class ReadingThread {
  readonly #worker: Worker;
  readonly #follower = new LoadFollower();
  /** Called when the thread ends, with the problem unless a look already got it. */
  readonly #onEnd: (untold: Problem | undefined) => void;
  readonly #received: WorkerAnswer[] = [];
  #load: Load | undefined;
  #waiting: Waiting | undefined;
  /** Who waits for places. */
  readonly #places = new Map<number, (places: readonly (ResourcePlace | undefined)[] | undefined) => void>();
  #lastPlaces = 0;
  #reason: string | undefined;
  #isClosed = false;
  folders: ReadonlyMap<string, string> | undefined;

  constructor(input: WorkerInput, onEnd: (untold: Problem | undefined) => void) {
    this.#onEnd = onEnd;
    this.#worker = takeThread();
    this.#worker.on("message", (answer: WorkerAnswer) => this.#receive(answer));
    this.#worker.on("error", (error) => {
      this.#reason = error instanceof Error ? error.message : String(error);
    });
    this.#worker.on("exit", () => this.#end());
    this.#worker.postMessage(input);
  }

  look(paths: ReadonlySet<string>, how: HowToLook): Promise<Look> {
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting = { how, resources: [], problems: [], resolve, reject };
      const { isPatient, onProgress } = how;
      this.#ask({ kind: "look", paths, isPatient, wantsProgress: onProgress !== undefined });
    });
  }

  /** Undefined: the thread ended. */
  placesOf(asked: readonly AskedResource[]): Promise<readonly (ResourcePlace | undefined)[] | undefined> {
    const id = ++this.#lastPlaces;
    return new Promise((resolve) => {
      this.#places.set(id, resolve);
      this.#ask({ kind: "places", id, asked });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#forgetPlaces();
    void this.#worker.terminate();
    this.#settle()?.reject(new DOMException("the source was closed", "AbortError"));
  }

  #ask(request: WorkerRequest): void {
    this.#worker.postMessage(request);
  }

  #forgetPlaces(): void {
    for (const resolve of this.#places.values()) resolve(undefined);
    this.#places.clear();
  }

  /** Node.js delivers available messages without a pause, so each is taken in a turn of its own. */
  #receive(answer: WorkerAnswer): void {
    this.#received.push(answer);
    if (this.#received.length === 1) setImmediate(() => this.#takeNext());
  }

  #takeNext(): void {
    const answer = this.#received[0];
    if (answer === undefined) return;
    this.#take(answer);
    this.#received.shift();
    if (this.#received.length > 0) setImmediate(() => this.#takeNext());
  }

  #take(answer: WorkerAnswer): void {
    if (answer.kind === "placed") {
      this.#places.get(answer.id)?.(answer.places);
      this.#places.delete(answer.id);
      return;
    }
    const waiting = this.#waiting;
    if (waiting === undefined) return; // closed
    switch (answer.kind) {
      case "progress":
        waiting.how.onProgress?.(answer.progress);
        return;
      case "part":
        if (answer.part.kind === "resources") takeResources(unpack(answer.part.packed), waiting);
        else waiting.problems.push(...answer.part.problems);
        if (answer.isAwaited) this.#ask({ kind: "next" });
        return;
      case "looked":
        this.folders = answer.folders ?? this.folders;
        if (answer.change !== undefined || this.#load === undefined) {
          const change = answer.change ?? { problems: [], state: undefined };
          this.#load = this.#follower.follow(change, waiting.resources, waiting.problems);
        }
        this.#settle()?.resolve({ load: this.#load, changing: answer.changing });
        return;
      case "threw":
        this.#settle()?.reject(answer.error);
    }
  }

  #end(): void {
    this.#forgetPlaces();
    if (this.#isClosed) return;
    const reason = this.#reason === undefined ? "" : `: ${this.#reason}`;
    const ended = problem("SOURCE_READER_ENDED", ".", `the thread that reads the files has ended${reason}`, {
      hint: "it is started again; if files are very large, split them or give Node more memory",
    });
    const waiting = this.#settle();
    this.#onEnd(waiting === undefined ? ended : undefined);
    waiting?.resolve(failedLook(ended));
  }

  #settle(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#worker.unref();
    return waiting;
  }
}

function takeResources(resources: readonly Resource[], { resources: all, how }: Waiting): void {
  for (const one of resources) all.push(one);
  how.onResources?.(resources);
}

function failedLook(problem: Problem): Look {
  return { load: { state: undefined, problems: [problem] }, changing: [] };
}
