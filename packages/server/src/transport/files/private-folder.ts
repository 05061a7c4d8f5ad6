import { existsSync, mkdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AcquiredFileLock, makeDirectory } from "@xdskit/disk";
import { decodeSotwResponse, encodeSotwResponse } from "@xdskit/envoy-api/internal";
import type { TypeUrl } from "@xdskit/protocol";
import { privateFolderOf } from "../../file-output.ts";
import { lockDirectory } from "../../store/directory-lock.ts";
import { isCode, replaceQuickly } from "./replace-file.ts";

/** A resource that stood in a file when a writer ended. */
export interface LeftResource {
  readonly type: TypeUrl;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * What a writer keeps beside its files, for the one that comes after it: the paths of its files, and what those of whole types hold.
 * Its lock keeps a second writer out.
 */
export class PrivateFolder {
  readonly #path: string;
  readonly #lock: AcquiredFileLock;
  #listed: ReadonlySet<string> = new Set();

  /** Throws if another writer uses the directory, or if it cannot be made. */
  constructor(directory: string) {
    this.#path = privateFolderOf(directory);
    this.#make();
    this.#lock = lockDirectory(this.#path);
  }

  /** The paths that the writer before listed; none if there was none. */
  async list(): Promise<readonly string[]> {
    try {
      const paths: unknown = JSON.parse(await readFile(join(this.#path, "files.json"), "utf8"));
      const texts = Array.isArray(paths) ? paths.filter((path): path is string => typeof path === "string") : [];
      this.#listed = new Set(texts);
      return texts;
    } catch (error) {
      if (error instanceof SyntaxError || isCode(error, "ENOENT")) return [];
      throw error;
    }
  }

  /** Writes down which files there are, if there are others than were listed. */
  async keepList(paths: ReadonlySet<string>): Promise<void> {
    if (paths.size === this.#listed.size && [...paths].every((path) => this.#listed.has(path))) return;
    await this.#replace("files.json", new TextEncoder().encode(`${JSON.stringify([...paths].sort())}\n`));
    this.#listed = new Set(paths);
  }

  /** What the files of whole types held when the writer before ended. */
  async leftResources(): Promise<readonly LeftResource[]> {
    const names = await readdir(this.#path);
    const left = await Promise.all(names.filter((name) => name.endsWith(".pb")).map((name) => this.#read(name)));
    return left.flat();
  }

  /** Writes down what the file of a whole type holds from now on. */
  async keepWhole(folder: string, type: TypeUrl, resources: readonly LeftResource[]): Promise<void> {
    const anys = resources.map(({ name, bytes }) => ({
      typeUrl: type,
      value: encodeSotwResponse({ nonce: name, resources: [{ typeUrl: type, value: bytes }] }),
    }));
    await this.#replace(`${folder}.pb`, encodeSotwResponse({ typeUrl: type, resources: anys }));
  }

  release(): void {
    this.#lock.release();
  }

  async #read(name: string): Promise<readonly LeftResource[]> {
    try {
      const { typeUrl, resources } = decodeSotwResponse(await readFile(join(this.#path, name)));
      return resources.flatMap(({ value }) => {
        const { nonce, resources: held } = decodeSotwResponse(value);
        return held.map(({ value: bytes }) => ({ type: typeUrl as TypeUrl, name: nonce, bytes }));
      });
    } catch {
      // It only makes a restart smooth; without it there is one all the same.
      return [];
    }
  }

  #make(): void {
    makeDirectory(dirname(this.#path));
    if (!existsSync(this.#path)) mkdirSync(this.#path, { mode: 0o700 });
  }

  async #replace(name: string, content: Uint8Array): Promise<void> {
    this.#make();
    await replaceQuickly(join(this.#path, name), content);
  }
}
