import { existsSync, mkdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AcquiredFileLock, makeDirectory } from "@xdskit/disk";
import { decodeSotwResponse, encodeSotwResponse } from "@xdskit/envoy-api/internal";
import type { TypeUrl } from "@xdskit/protocol";
import { privateFolderOf } from "../../file-output.ts";
import { lockDirectory } from "../../store/directory-lock.ts";
import { isCode, replaceQuickly } from "./replace-file.ts";

/** A resource in a file that the previous writer left. */
export interface LeftResource {
  readonly type: TypeUrl;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * The writer's own data for the next run: the paths of its files, and the content of those of whole types. Its lock
 * excludes a second writer.
 */
export class PrivateFolder {
  readonly #path: string;
  readonly #lock: AcquiredFileLock;
  #listed: ReadonlySet<string> = new Set();

  /** Throws if another writer uses the directory or it cannot be created. */
  constructor(directory: string) {
    this.#path = privateFolderOf(directory);
    this.#make();
    this.#lock = lockDirectory(this.#path);
  }

  /** The paths that the previous writer listed; empty without one. */
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

  /** Saves the list of files if it changed. */
  async keepList(paths: ReadonlySet<string>): Promise<void> {
    if (paths.size === this.#listed.size && [...paths].every((path) => this.#listed.has(path))) return;
    await this.#replace("files.json", new TextEncoder().encode(`${JSON.stringify([...paths].sort())}\n`));
    this.#listed = new Set(paths);
  }

  /** The last content of the previous writer's files of whole types. */
  async leftResources(): Promise<readonly LeftResource[]> {
    const names = await readdir(this.#path);
    const left = await Promise.all(names.filter((name) => name.endsWith(".pb")).map((name) => this.#read(name)));
    return left.flat();
  }

  /** Saves the content of the file of a whole type. */
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
      // Optional: it only makes a restart smoother.
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
