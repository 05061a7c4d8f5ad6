import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Resource, ResourceInput } from "@xdskit/protocol";
import { folderOfLayer, settingsFile } from "../layout.ts";
import { LoadAssembly } from "../load-assembly.ts";
import type { Load } from "../loaded-state.ts";
import { type Problem, sameProblems } from "../problem.ts";
import type { ValidationLevel } from "../read-resource.ts";
import { type AskedResource, findOrigins, type ResourcePlace } from "../resource-places.ts";
import type { Settings } from "../settings/setting-table.ts";
import { DirectoryTree } from "./directory-tree.ts";
import { FileCache, type Progress } from "./file-cache.ts";
import { asyncFileSystem, type FileSystem } from "./file-system.ts";
import { problem } from "./file-system-problem.ts";
import { isInside } from "./path-map.ts";
import { ProblemPlacer } from "./place-problems.ts";
import { type FilledFiles, SecretFiles } from "./secret-files.ts";

/**
 * What to do with files that a Secret names by relative paths: put their content in place of the path, or leave them to
 * the clients.
 */
export type SecretFilesMode = "read" | "leave";

/** Options that override the settings of the directory. */
export interface ReadingOptions {
  readonly directory: string;
  readonly api: EnvoyApi;
  readonly validation: ValidationLevel | undefined;
  readonly maxFileBytes: number | undefined;
  readonly allowEmpty: boolean | undefined;
  readonly findsVersionLoss: boolean;
  readonly secretFiles: SecretFilesMode | undefined;
  /** The limit of all files together, in bytes; above it a look throws `OutgrownError`. Undefined: no limit. */
  readonly maxTotalBytes?: number;
  /** @default one that does not block the thread */
  readonly fileSystem?: FileSystem;
  /** Makes a resource of what was read; see `Decoding`. */
  readonly create?: (input: ResourceInput) => Resource;
  /** Called with each resource of a text that is read, unless it is recognised, before the look is over. */
  readonly onResource?: (resource: Resource) => void;
}

/** Options of a look. */
export interface HowToLook {
  /** Wait for files that seem to be half written. */
  readonly isPatient: boolean;
  readonly onProgress?: (progress: Progress) => void;
  /** Called with resources as they arrive from another thread; some may not be in the load. */
  readonly onResources?: (resources: readonly Resource[]) => void;
}

/** The result of a look at the directory. */
export interface Look {
  /** The same object as last time if nothing changed. */
  readonly load: Load;
  /** Files that were being written; look at them again before using the load. */
  readonly changing: readonly string[];
}

const DEFAULT_MAX_FILE_BYTES = 64 * 1024 ** 2;

/** The last reading of a directory; reads only what may have changed. */
export class DirectoryReading {
  readonly tree: DirectoryTree;
  readonly #options: ReadingOptions;
  readonly #fileSystem: FileSystem;
  readonly #cache: FileCache;
  readonly #assembly: LoadAssembly;
  readonly #secretFiles: SecretFiles;
  readonly #placer: ProblemPlacer;
  #validation: ValidationLevel | undefined;
  #treeProblems: readonly Problem[] | undefined = [];
  #load: Load | undefined;

  constructor(options: ReadingOptions) {
    this.#options = options;
    const { directory, maxTotalBytes = Number.POSITIVE_INFINITY, fileSystem = asyncFileSystem } = options;
    this.#fileSystem = fileSystem;
    this.tree = new DirectoryTree(directory, fileSystem);
    this.#cache = new FileCache(directory, maxTotalBytes, fileSystem);
    this.#secretFiles = new SecretFiles(directory, options.api);
    this.#placer = new ProblemPlacer(directory, fileSystem);
    this.#assembly = new LoadAssembly({
      api: options.api,
      allowEmpty: options.allowEmpty,
      place: (problems) => this.#placer.place(problems, this.#cache),
      nothingFound: nothingFound(),
      fileOf: folderOfLayer,
      addToLayer: (layer) => `put its resources into ${folderOfLayer(layer)}/`,
    });
  }

  /** The real paths of all folders to watch, by path. */
  get folders(): ReadonlyMap<string, string> {
    const { folders } = this.tree;
    const further = this.#secretFiles.folders;
    return folders.size === 0 || further.size === 0 ? folders : new Map([...further, ...folders]);
  }

  /** Looks at these paths, or at everything (if "" is among them, or the first time). */
  async look(paths: ReadonlySet<string>, how: HowToLook): Promise<Look> {
    const missing = await this.#lookAtTree(paths);
    if (missing !== undefined) return { load: this.#fail(missing), changing: [] };
    const { api, validation, maxFileBytes, findsVersionLoss, create, onResource } = this.#options;
    const settingsChange = await this.#cache.refreshSettings(this.tree);
    const { settings } = this.#cache.settings;
    const level = validation ?? levelIn(settings) ?? "warn";
    if (level !== this.#validation) this.#cache.clear(this.tree);
    this.#validation = level;
    const maxBytes = maxFileBytes ?? numberIn(settings, "limits.max-file-bytes") ?? DEFAULT_MAX_FILE_BYTES;
    const { changed, changing } = await this.#cache.refresh(this.tree, {
      decoding: {
        ...{ api, validation: level, findsVersionLoss, isAlone: this.#fileSystem.blocks },
        ...(create && { create }),
        ...(onResource && { onResource }),
      },
      maxFileBytes: maxBytes,
      isPatient: how.isPatient,
      onProgress: how.onProgress,
    });
    const mode = this.#options.secretFiles ?? settings["secret-files"];
    const { chunks } = this.#cache;
    const filled = await this.#secretFiles.fill(mode === "leave" ? [] : chunks, { paths, maxBytes });
    const treeProblems = this.tree.problems;
    const isSame =
      settingsChange !== "changed" &&
      !changed &&
      !filled.changed &&
      this.#treeProblems !== undefined &&
      sameProblems(treeProblems, this.#treeProblems);
    this.#treeProblems = treeProblems;
    if (this.#load === undefined || !isSame) {
      this.#load = await this.#assemble(mode === "leave" ? { ...filled, chunks } : filled);
    }
    this.#cache.forgetBytes();
    const changingSettings = settingsChange === "changing" ? [settingsFile] : [];
    return { load: this.#load, changing: [...changingSettings, ...changing, ...filled.changing] };
  }

  /** Where resources are in the files as they were read last, whether or not that could take effect. */
  placesOf(asked: readonly AskedResource[]): Promise<readonly (ResourcePlace | undefined)[]> {
    const origins = findOrigins(asked, this.#cache.chunks);
    return this.#placer.placesOf(origins, this.#cache);
  }

  async #lookAtTree(paths: ReadonlySet<string>): Promise<Problem | undefined> {
    const known = this.tree.folders.get("");
    const isReplaced = known === undefined || (await this.#realDirectory()) !== known;
    if (isReplaced || paths.has("")) return await this.tree.walk();
    // A look at a folder is one at everything in it.
    for (const path of paths) if (!isInside(path, paths)) await this.tree.look(path);
    return undefined;
  }

  async #realDirectory(): Promise<string | undefined> {
    try {
      return await this.#fileSystem.realpath(this.#options.directory);
    } catch {
      return undefined; // walking the directory tells why
    }
  }

  #fail(missing: Problem): Load {
    const [said] = this.#load?.problems ?? [];
    if (this.#load !== undefined && said?.code === missing.code && said.message === missing.message) return this.#load;
    this.#load = { state: undefined, problems: [missing] };
    this.#treeProblems = undefined;
    return this.#load;
  }

  #assemble({ chunks, problems: crossProblems }: FilledFiles): Promise<Load> {
    const { settings } = this.#cache;
    return this.#assembly.assemble({ chunks, settings, problems: this.tree.problems, crossProblems });
  }
}

function nothingFound(): Problem {
  return problem("SOURCE_EMPTY", ".", "expected resources in the directory, found none", {
    hint: "add a .yaml, .json, .pb or .txtpb file, or set allow-empty to serve an empty state",
  });
}

function levelIn(settings: Settings): ValidationLevel | undefined {
  const level = settings.validation;
  return level === "off" || level === "warn" || level === "reject" ? level : undefined;
}

function numberIn(settings: Settings, key: "limits.max-file-bytes"): number | undefined {
  const value = settings[key];
  return typeof value === "number" ? value : undefined;
}
