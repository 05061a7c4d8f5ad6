import { realpath } from "node:fs/promises";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Placement } from "@xdskit/protocol";
import { Assembler } from "../assemble.ts";
import { folderOfLayer, settingsFile } from "../layout.ts";
import { ListenerAddresses } from "../listener-addresses.ts";
import type { Load, LoadedState } from "../loaded-state.ts";
import { createPlacement } from "../placement.ts";
import { hasErrors, type Problem, quote, sameProblems, sortProblems } from "../problem.ts";
import { ProblemBound } from "../problem-bound.ts";
import type { ValidationLevel } from "../read-resource.ts";
import { checkReferences } from "../references.ts";
import type { GroupRule } from "../settings/group-rule.ts";
import type { Settings } from "../settings/setting-table.ts";
import type { PlacedRule, SettingsContent } from "../settings/settings-file.ts";
import { checkTtls } from "../ttls.ts";
import { DirectoryTree } from "./directory-tree.ts";
import { FileCache, type Progress } from "./file-cache.ts";
import { problem } from "./file-system-problem.ts";
import { ProblemPlacer } from "./place-problems.ts";

/** Options that override the settings of the directory. */
export interface ReadingOptions {
  readonly directory: string;
  readonly api: EnvoyApi;
  readonly validation: ValidationLevel | undefined;
  readonly maxFileBytes: number | undefined;
  readonly allowEmpty: boolean | undefined;
  readonly findsVersionLoss: boolean;
  /** The limit of all files together, in bytes; above it a look throws `OutgrownError`. Undefined: no limit. */
  readonly maxTotalBytes?: number;
}

/** Options of a look. */
export interface HowToLook {
  /** Wait for files that seem to be half written. */
  readonly isPatient: boolean;
  readonly onProgress?: (progress: Progress) => void;
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
  readonly #cache: FileCache;
  readonly #assembler = new Assembler();
  readonly #placer: ProblemPlacer;
  #validation: ValidationLevel | undefined;
  #treeProblems: readonly Problem[] | undefined = [];
  #placed: { readonly settings: SettingsContent; readonly layers: string; readonly placement: Placement } | undefined;
  readonly #listenerAddresses: ListenerAddresses;
  #hasGoodReferences = false;
  #load: Load | undefined;

  constructor(options: ReadingOptions) {
    this.#options = options;
    this.tree = new DirectoryTree(options.directory);
    this.#cache = new FileCache(options.directory, options.maxTotalBytes ?? Number.POSITIVE_INFINITY);
    this.#listenerAddresses = new ListenerAddresses(options.api);
    this.#placer = new ProblemPlacer(options.directory);
  }

  /** The group rules of the last load's node mapping. */
  get groups(): readonly GroupRule[] {
    return this.#cache.settings.groups;
  }

  /** Looks at these paths, or at everything (if "" is among them, or the first time). */
  async look(paths: ReadonlySet<string>, how: HowToLook): Promise<Look> {
    const missing = await this.#lookAtTree(paths);
    if (missing !== undefined) return { load: this.#fail(missing), changing: [] };
    const { api, validation, maxFileBytes, findsVersionLoss } = this.#options;
    const newSettings = await this.#cache.refreshSettings(this.tree, maxFileBytes ?? DEFAULT_MAX_FILE_BYTES);
    const { settings } = this.#cache.settings;
    const level = validation ?? levelIn(settings) ?? "warn";
    if (level !== this.#validation) this.#cache.clear();
    this.#validation = level;
    const { changed, changing } = await this.#cache.refresh(this.tree, {
      decoding: { api, validation: level, findsVersionLoss },
      maxFileBytes: maxFileBytes ?? numberIn(settings, "limits.max-file-bytes") ?? DEFAULT_MAX_FILE_BYTES,
      isPatient: how.isPatient,
      onProgress: how.onProgress,
    });
    const treeProblems = this.tree.problems;
    const isSame =
      !newSettings && !changed && this.#treeProblems !== undefined && sameProblems(treeProblems, this.#treeProblems);
    this.#treeProblems = treeProblems;
    if (this.#load === undefined || !isSame) this.#load = await this.#assemble();
    return { load: this.#load, changing };
  }

  async #lookAtTree(paths: ReadonlySet<string>): Promise<Problem | undefined> {
    const known = this.tree.folders.get("");
    const isReplaced =
      known === undefined || (await realpath(this.#options.directory).catch(() => undefined)) !== known;
    if (isReplaced || paths.has("")) return await this.tree.walk();
    for (const path of paths) await this.tree.look(path);
    return undefined;
  }

  #fail(missing: Problem): Load {
    const [said] = this.#load?.problems ?? [];
    if (this.#load !== undefined && said?.code === missing.code && said.message === missing.message) return this.#load;
    this.#load = { state: undefined, problems: [missing] };
    this.#treeProblems = undefined;
    return this.#load;
  }

  async #assemble(): Promise<Load> {
    const { files, settings: content } = this.#cache;
    const { layers, problems: duplicates, hasSameShape } = this.#assembler.assemble(files);
    // Problems found before may be on other lines now.
    const isKnownGood = hasSameShape && this.#hasGoodReferences;
    const references = isKnownGood ? [] : checkReferences(files, this.#options.api);
    // A rejected resource satisfies references only until it is fixed or removed.
    this.#hasGoodReferences =
      references.length === 0 && files.every(({ content: { refused } }) => refused.length === 0);
    const bound = new ProblemBound();
    const crossProblems = [
      ...duplicates,
      ...references,
      ...(await this.#listenerAddresses.check(files)),
      ...checkTtls(files, this.#options.api),
    ].filter(({ severity }) => bound.admits(severity));
    const resources = [...layers.values()].reduce((sum, { length }) => sum + length, 0);
    const found = [
      ...this.tree.problems,
      ...content.problems,
      ...files.flatMap((file) => file.content.problems),
      ...groupProblems(content.groups, layers),
      ...(await this.#placer.place(crossProblems, (file) => this.#cache.stampOf(file))),
      ...bound.summary("."),
    ];
    if (resources === 0 && !hasErrors(found) && !this.#mayBeEmpty(content.settings)) found.push(nothingFound());
    const problems = sortProblems(found);
    if (hasErrors(problems)) return { state: undefined, problems };
    const placement = this.#placementFor(content, new Set(layers.keys()));
    const { settings, clients, listeners } = content;
    const state: LoadedState = { layers, settings, clients, listeners, placement, files: files.length, resources };
    return { state, problems };
  }

  /** The same function while rules and layers stay the same, so that nodes need not be mapped again. */
  #placementFor(settings: SettingsContent, layers: ReadonlySet<string>): Placement {
    const key = JSON.stringify([...layers]);
    if (this.#placed?.settings !== settings || this.#placed.layers !== key) {
      this.#placed = { settings, layers: key, placement: createPlacement(settings.groups, layers) };
    }
    return this.#placed.placement;
  }

  #mayBeEmpty(settings: Settings): boolean {
    return this.#options.allowEmpty ?? settings["allow-empty"] === true;
  }
}

function nothingFound(): Problem {
  return problem("SOURCE_EMPTY", ".", "expected resources in the directory, found none", {
    hint: "add a .yaml, .json, .pb or .txtpb file, or set allow-empty to serve an empty state",
  });
}

function groupProblems(rules: readonly PlacedRule[], layers: ReadonlyMap<string, unknown>): readonly Problem[] {
  const problems: Problem[] = [];
  const named = new Set(rules.map(({ name }) => `group/${name}`));
  for (const { name, line, column } of rules) {
    if (layers.has(`group/${name}`)) continue;
    const message = `the group ${quote(name)} has no files`;
    const hint = `put its resources into ${folderOfLayer(`group/${name}`)}/`;
    problems.push({
      code: "GROUP_WITHOUT_FILES",
      severity: "warning",
      file: settingsFile,
      line,
      column,
      message,
      hint,
    });
  }
  for (const layer of layers.keys()) {
    if (!layer.startsWith("group/") || named.has(layer)) continue;
    const message = `no rule puts a node into the group ${quote(layer.slice("group/".length))}`;
    const hint = `add a rule to groups in ${settingsFile}`;
    problems.push({ code: "GROUP_UNREACHABLE", severity: "warning", file: folderOfLayer(layer), message, hint });
  }
  return problems;
}

function levelIn(settings: Settings): ValidationLevel | undefined {
  const level = settings.validation;
  return level === "off" || level === "warn" || level === "reject" ? level : undefined;
}

function numberIn(settings: Settings, key: "limits.max-file-bytes"): number | undefined {
  const value = settings[key];
  return typeof value === "number" ? value : undefined;
}
