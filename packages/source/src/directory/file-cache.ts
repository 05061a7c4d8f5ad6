import { join } from "node:path";
import { contentDigest } from "@xdskit/envoy-api";
import { KnownResources } from "../candidate-reader.ts";
import { decodeFile } from "../decode.ts";
import { type FileChunk, SortedFiles } from "../file-chunks.ts";
import { anythingRefused, type FileContent, type LayerFile } from "../file-content.ts";
import { settingsFile } from "../layout.ts";
import { compareText } from "../problem.ts";
import type { Decoding } from "../read-resource.ts";
import type { SettingsContent } from "../settings/settings-file.ts";
import type { DirectoryTree, TreeFile } from "./directory-tree.ts";
import { asyncFileSystem, type FileSystem } from "./file-system.ts";
import { FollowedSettings, type SettingsChange } from "./followed-settings.ts";
import { OutgrownError } from "./outgrown-error.ts";
import type { KnownFiles } from "./place-problems.ts";
import { type FileReading, fileLimit, isTooLarge, readWholeFile } from "./read-file.ts";
import { seemsCut, UnfinishedFiles } from "./unfinished-files.ts";

/** The progress of a load. */
export interface Progress {
  readonly filesRead: number;
  readonly filesTotal: number;
  readonly resources: number;
}

/** The result of reading the changed files. */
export interface Refreshed {
  readonly changed: boolean;
  /** Files that were being written; their previous content is kept. */
  readonly changing: readonly string[];
}

/** A file as last read. */
interface CachedFile {
  stamp: string | undefined;
  /** Undefined if its text is in `known`, or if it could not be read. */
  readonly digest: bigint | undefined;
  /** Whether it was read, and not refused. */
  readonly isRead: boolean;
  readonly size: number;
  readonly layerFile: LayerFile;
  readonly known: KnownResources;
}

/** So many files are read at once, where one can be read while another is waited for. */
const FILES_AT_ONCE = 16;
const PROGRESS_EVERY_MS = 100;
/** How much of what was read just now is kept until the end of a look. */
const KEPT_BYTES = 128 * 1024;

/** The contents of all files; reads only changed ones again. */
export class FileCache implements KnownFiles {
  readonly #directory: string;
  readonly #maxTotalBytes: number;
  readonly #fileSystem: FileSystem;
  /** The total size of files that are read or being read. */
  #totalBytes = 0;
  readonly #files = new Map<string, CachedFile>();
  readonly #unfinished = new UnfinishedFiles();
  /** The bytes of files that were read since `forgetBytes`, up to `KEPT_BYTES`. */
  readonly #kept = new Map<string, Uint8Array>();
  #keptBytes = 0;
  readonly #sorted = new SortedFiles();
  readonly #spare = new SpareMemory();
  readonly #settings: FollowedSettings;

  constructor(directory: string, maxTotalBytes: number, fileSystem: FileSystem = asyncFileSystem) {
    this.#directory = directory;
    this.#fileSystem = fileSystem;
    this.#maxTotalBytes = maxTotalBytes;
    this.#settings = new FollowedSettings(directory, maxTotalBytes);
  }

  get settings(): SettingsContent {
    return this.#settings.content;
  }

  /** All resource files sorted by path, independent of the order on disk. */
  get chunks(): readonly FileChunk[] {
    return this.#sorted.chunks;
  }

  stampOf(file: string): string | undefined {
    return this.#files.get(file)?.stamp;
  }

  bytesOf(file: string): Uint8Array | undefined {
    return this.#kept.get(file);
  }

  /** The end of a look: texts are not kept. */
  forgetBytes(): void {
    this.#kept.clear();
    this.#keptBytes = 0;
  }

  /** Forgets all resources, so that they are read with other options. */
  clear(tree: DirectoryTree): void {
    for (const path of this.#files.keys()) tree.unread.add(path);
    this.#files.clear();
    this.#sorted.clear();
    this.#totalBytes = 0;
  }

  /** Reads the settings again if they changed. While they seem to be half written, those read before stay. */
  async refreshSettings(tree: DirectoryTree): Promise<SettingsChange> {
    const file = tree.files.get(settingsFile);
    const { isThere, stamp } = this.#settings;
    if (file === undefined ? !isThere : file.stamp !== undefined && file.stamp === stamp) return this.#settings.keep();
    const change = await this.#settings.refresh();
    if (file !== undefined && change !== "changing") {
      tree.files.set(settingsFile, { role: file.role, stamp: this.#settings.stamp });
    }
    return change;
  }

  /** Reads new and changed files, and forgets removed ones. Takes what it has read out of `tree.unread`. */
  async refresh(tree: DirectoryTree, reading: Reading): Promise<Refreshed> {
    let changed = false;
    const changing: string[] = [];
    const toRead: [path: string, file: TreeFile][] = [];
    for (const path of tree.unread) {
      const file = tree.files.get(path);
      if (file === undefined && this.#drop(path)) changed = true;
      if (file?.role.kind === "resources" && !this.#isCurrent(path, file)) toRead.push([path, file]);
      else tree.unread.delete(path);
    }
    // In the order of the load.
    toRead.sort(([a], [b]) => compareText(a, b));
    const progress = new ProgressReport(toRead.length, reading.onProgress);
    const waiting = toRead.values();
    const atOnce = this.#fileSystem.blocks ? 1 : Math.min(FILES_AT_ONCE, toRead.length);
    const readOn = async (): Promise<void> => {
      for (const [path, file] of waiting) {
        const outcome = await this.#readOne(path, file, reading);
        if (outcome === "changing") changing.push(path);
        else if (outcome === "changed") changed = true;
        const stamp = outcome === "changing" ? undefined : this.stampOf(path);
        tree.files.set(path, { role: file.role, stamp });
        if (stamp !== undefined) tree.unread.delete(path);
        progress.note(this.#files.get(path)?.layerFile.content.resources.length ?? 0);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, readOn));
    progress.end();
    return { changed, changing };
  }

  #isCurrent(path: string, { stamp }: TreeFile): boolean {
    return stamp !== undefined && stamp === this.#files.get(path)?.stamp;
  }

  #keep(path: string, file: CachedFile): void {
    this.#files.set(path, file);
    this.#sorted.set(file.layerFile);
  }

  #keepBytes(path: string, bytes: Uint8Array): void {
    if (this.#keptBytes + bytes.length > KEPT_BYTES) return;
    this.#keptBytes += bytes.length;
    this.#kept.set(path, bytes);
  }

  #drop(path: string): boolean {
    this.#unfinished.forget(path);
    this.#totalBytes -= this.#sizeOf(path);
    if (!this.#files.delete(path)) return false;
    this.#sorted.delete(path);
    return true;
  }

  async #readOne(path: string, { role }: TreeFile, reading: Reading): Promise<"changed" | "same" | "changing"> {
    if (role.kind !== "resources") return "same";
    const before = this.#files.get(path);
    const most = Math.min(reading.maxFileBytes, this.#maxTotalBytes);
    const memory = this.#spare.take();
    const found = await readWholeFile(join(this.#directory, path), path, fileLimit(most), this.#fileSystem, memory);
    if (found.kind !== "read" || found.bytes.buffer !== memory?.buffer) this.#spare.give(memory);
    if (isTooLarge(found) && most < reading.maxFileBytes) throw new OutgrownError();
    if (found.kind === "changing") return "changing";
    if (found.kind === "gone") return this.#drop(path) ? "changed" : "same";
    if (found.kind === "refused") return this.#refuse(path, role.layer, found);
    const { bytes } = found;
    if (before?.layerFile.layer === role.layer && isAsBefore(before, bytes)) {
      before.stamp = found.stamp;
      this.#spare.give(bytes);
      return "same";
    }
    const isCut = reading.isPatient && seemsCut[role.format]?.(bytes) === true;
    if (isCut && this.#unfinished.mayGrow(path, found.stamp)) return "changing";
    this.#grow(bytes.length - this.#sizeOf(path));
    const known = before?.known ?? new KnownResources();
    const textBefore = known.list?.bytes;
    const decoding = role.isOnDemand === true ? { ...reading.decoding, isOnDemand: true } : reading.decoding;
    const content = await decodeFile({ file: path, format: role.format, bytes }, decoding, known);
    const layerFile = { file: path, layer: role.layer, content };
    const isKept = known.list?.content === content;
    this.#keepBytes(path, bytes);
    const digest = isKept ? undefined : contentDigest([bytes]);
    this.#keep(path, { stamp: found.stamp, digest, isRead: true, size: bytes.length, layerFile, known });
    if (isKept) this.#spare.give(textBefore);
    return "changed";
  }

  #refuse(
    path: string,
    layer: string,
    { problem, stamp }: Extract<FileReading, { kind: "refused" }>,
  ): "changed" | "same" {
    const before = this.#files.get(path);
    const said = before?.isRead === false ? before.layerFile.content.problems[0] : undefined;
    if (said?.code === problem.code && said.message === problem.message) return "same";
    const content: FileContent = { resources: [], problems: [problem], refused: anythingRefused };
    this.#grow(-this.#sizeOf(path));
    this.#keep(path, {
      stamp,
      digest: undefined,
      isRead: false,
      size: 0,
      layerFile: { file: path, layer, content },
      known: new KnownResources(),
    });
    return "changed";
  }

  #sizeOf(path: string): number {
    return this.#files.get(path)?.size ?? 0;
  }

  #grow(bytes: number): void {
    this.#totalBytes += bytes;
    if (this.#totalBytes > this.#maxTotalBytes) throw new OutgrownError();
  }
}

/** How to read files. */
export interface Reading {
  readonly decoding: Decoding;
  readonly maxFileBytes: number;
  /** Wait for files that seem to be half written. */
  readonly isPatient: boolean;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** The least memory that is used again, in bytes. */
const LEAST_SPARE = 1024 ** 2;

/**
 * The memory of a large text that is not needed any more, for the next one: if each change took as much anew, every
 * second one would begin a collection of all garbage.
 */
class SpareMemory {
  #memory: Uint8Array | undefined;

  take(): Uint8Array | undefined {
    const memory = this.#memory;
    this.#memory = undefined;
    return memory;
  }

  give(memory: Uint8Array | undefined): void {
    if (memory === undefined || memory.buffer.byteLength < LEAST_SPARE) return;
    const whole = new Uint8Array(memory.buffer);
    if (whole.length > (this.#memory?.length ?? 0)) this.#memory = whole;
  }
}

/** Whether bytes are what a file held when it was read last. */
function isAsBefore({ isRead, digest, known: { list } }: CachedFile, bytes: Uint8Array): boolean {
  if (!isRead) return false;
  return digest === undefined ? list?.bytes.equals(bytes) === true : digest === contentDigest([bytes]);
}

class ProgressReport {
  readonly #filesTotal: number;
  readonly #tell: ((progress: Progress) => void) | undefined;
  #filesRead = 0;
  #resources = 0;
  #toldAtMs = performance.now();

  constructor(filesTotal: number, tell: ((progress: Progress) => void) | undefined) {
    this.#filesTotal = filesTotal;
    this.#tell = tell;
  }

  note(resources: number): void {
    this.#filesRead++;
    this.#resources += resources;
    if (this.#tell === undefined || performance.now() - this.#toldAtMs < PROGRESS_EVERY_MS) return;
    this.#toldAtMs = performance.now();
    this.end();
  }

  end(): void {
    this.#tell?.({ filesRead: this.#filesRead, filesTotal: this.#filesTotal, resources: this.#resources });
  }
}
