import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { contentDigest, type EnvoyApi } from "@xdskit/envoy-api";
import type { Status, TypeUrl } from "@xdskit/protocol";
import { type DiscoveryRequest, statusCode } from "@xdskit/protocol/internal";
import type { FileSource } from "../../config/client-config.ts";
import type { ReadResponse } from "../json-response.ts";
import type { ClientStream, StreamListener } from "../transport.ts";
import { findFileProblem, readContent } from "./file-content.ts";
import { isSecret, namedFilesIn, withContents } from "./named-files.ts";
import { PathWatch, type WatchDirectory, type WatchedFile } from "./path-watch.ts";
import { formatOf, readResponse } from "./read-response.ts";

/** The largest file that is read, in bytes. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const MAX_NAMED_FILE_BYTES = 1024 * 1024;
/** A file is read after this many milliseconds without an event, because it may be written in parts (C-FS-09). */
const QUIET_MS = 40;
/** The longest wait for that, when events never stop. */
const MAX_BURST_MS = 500;
/** An unreadable file is read again after this many milliseconds before it is reported: it may be half written. */
const SECOND_LOOK_MS = 250;

/** What a file stream needs. */
export interface FileStreamParts {
  readonly api: EnvoyApi;
  readonly source: FileSource;
  readonly type: TypeUrl;
  readonly listener: StreamListener;
  readonly watchDirectory: WatchDirectory;
  /** Called once, whichever side ends the stream. */
  readonly onEnd: () => void;
}

/** Follows one file and reports its content whenever it changes. */
export class FileStream implements ClientStream {
  readonly #parts: FileStreamParts;
  readonly #watch: PathWatch;
  readonly #file: WatchedFile;
  readonly #stopped = new AbortController();
  /** The file, and the files that it names. */
  #followed: readonly WatchedFile[];
  /** The names last requested; undefined: no request yet. */
  #wanted: string | undefined;
  /** Requests before this are answered once it is. */
  #isOpen = false;
  /** The content is to be reported again, because of a new request. */
  #isAsked = false;
  #isChanged = false;
  #changedAtMs = 0;
  #isReading = false;
  /** A digest of the content last reported. */
  #told: string | undefined;

  constructor(parts: FileStreamParts) {
    this.#parts = parts;
    const { path, watchedDirectory, isMoveOnly } = parts.source;
    this.#file = {
      path: resolve(path),
      on: isMoveOnly ? "moves" : "changes",
      directory: watchedDirectory === undefined ? undefined : resolve(watchedDirectory),
    };
    this.#followed = [this.#file];
    this.#watch = new PathWatch(() => this.#noteChange(), parts.watchDirectory);
  }

  /** Checks that the file exists (C-FS-11). */
  async start(): Promise<void> {
    const { path } = this.#parts.source;
    const problem = await findFileProblem(path);
    if (this.#stopped.signal.aborted) return;
    if (problem !== undefined) {
      this.#end({ code: statusCode.NOT_FOUND, message: `${path}: ${problem}` });
      return;
    }
    this.#watch.follow(this.#followed);
    this.#isOpen = true;
    this.#parts.listener.opened();
    if (this.#isAsked) this.#read();
  }

  send(request: DiscoveryRequest): void {
    if (this.#stopped.signal.aborted) return;
    if (request.kind === "delta") {
      this.#end({ code: statusCode.UNIMPLEMENTED, message: "there is no delta in files" });
      return;
    }
    const wanted = JSON.stringify(request.names);
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    this.#isAsked = true;
    this.#read();
  }

  close(): void {
    this.#stop();
  }

  #noteChange(): void {
    this.#isChanged = true;
    this.#changedAtMs = performance.now();
    if (this.#wanted !== undefined) this.#read();
  }

  #read(): void {
    if (this.#isReading || !this.#isOpen) return;
    this.#isReading = true;
    this.#readWhileNeeded().catch((error: unknown) => {
      // Closing the stream aborts a pause in this way.
      if (!this.#stopped.signal.aborted) this.#end({ code: statusCode.INTERNAL, message: String(error) });
    });
  }

  async #readWhileNeeded(): Promise<void> {
    while (this.#isChanged || this.#isAsked) {
      await this.#untilQuiet();
      let found = await this.#look();
      if ("problem" in found) {
        await this.#pause(SECOND_LOOK_MS);
        await this.#untilQuiet();
        found = await this.#look();
      }
      if (this.#stopped.signal.aborted) return;
      await this.#tell(found);
    }
    // In the same turn as the last check for more work, so that no event is lost in between.
    this.#isReading = false;
  }

  /** Follows the file and reads it. */
  async #look(): Promise<ReadResponse> {
    const { source, type, api } = this.#parts;
    this.#isChanged = false;
    this.#watch.follow(this.#followed);
    const content = await readContent(source.path, MAX_FILE_BYTES);
    if ("problem" in content) return content;
    const response = readResponse(content.bytes, source.format ?? formatOf(source.path), api);
    return "problem" in response || !isSecret(type) ? response : { bytes: await this.#readNamed(response.bytes) };
  }

  /** Also follows the files that Secrets name (C-FS-16). */
  async #readNamed(response: Uint8Array): Promise<Uint8Array> {
    const { api } = this.#parts;
    const files = namedFilesIn(response, api);
    if (files.length === 0) return response;
    const named = files.map(({ path, watchedDirectory }): WatchedFile => {
      const directory = watchedDirectory === undefined ? undefined : resolve(watchedDirectory);
      return { path: resolve(path), on: "changes", directory };
    });
    this.#followed = [this.#file, ...named];
    this.#watch.follow(this.#followed);
    const contents = new Map<string, Uint8Array | undefined>();
    for (const { path } of files) {
      const content = await readContent(path, MAX_NAMED_FILE_BYTES);
      contents.set(path, "problem" in content ? undefined : content.bytes);
    }
    return withContents(response, (path) => contents.get(path), api);
  }

  /** Reports content only if it changed or was requested again. */
  async #tell(found: ReadResponse): Promise<void> {
    const digest = "problem" in found ? found.problem : contentDigest([found.bytes]).toString();
    if (digest === this.#told && !this.#isAsked) return;
    this.#told = digest;
    this.#isAsked = false;
    const { listener, source } = this.#parts;
    if ("problem" in found) listener.unreadable(`${source.path}: ${found.problem}`);
    else await listener.response(found.bytes);
  }

  async #untilQuiet(): Promise<void> {
    if (!this.#isChanged) return;
    const giveUpAtMs = performance.now() + MAX_BURST_MS;
    for (;;) {
      const nowMs = performance.now();
      const waitMs = Math.min(this.#changedAtMs + QUIET_MS, giveUpAtMs) - nowMs;
      if (waitMs <= 0) return;
      await this.#pause(waitMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopped.signal, ref: false });
  }

  #end(status: Status): void {
    if (this.#stop()) this.#parts.listener.ended(status);
  }

  /** False if it had already ended. */
  #stop(): boolean {
    if (this.#stopped.signal.aborted) return false;
    this.#stopped.abort();
    this.#watch.close();
    this.#parts.onEnd();
    return true;
  }
}
