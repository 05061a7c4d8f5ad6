import type { EnvoyApi } from "@xdskit/envoy-api";
import type { NodeMapping } from "@xdskit/protocol";
import { Assembler } from "./assemble.ts";
import type { CrossProblem, LayerFile } from "./file-content.ts";
import { settingsFile } from "./layout.ts";
import { ListenerAddresses } from "./listener-addresses.ts";
import type { Load, LoadedState } from "./loaded-state.ts";
import { createNodeMapping } from "./node-mapping.ts";
import { hasErrors, type Problem, quote, sortProblems } from "./problem.ts";
import { ProblemBound } from "./problem-bound.ts";
import { checkReferences } from "./references.ts";
import type { PlacedRule, SettingsContent } from "./settings/settings-file.ts";
import { checkTtls } from "./ttls.ts";

/** What a load is made of. */
export interface LoadParts {
  /** In the order that the lists of resources should have. */
  readonly files: readonly LayerFile[];
  readonly settings: SettingsContent;
  /** Found before anything was read. */
  readonly problems: readonly Problem[];
}

/** What differs between a directory and other places that resources come from. */
export interface LoadAssemblyOptions {
  readonly api: EnvoyApi;
  /** Undefined: as the settings say. */
  readonly allowEmpty: boolean | undefined;
  /** Finds where problems between files stand. */
  place(problems: readonly CrossProblem[]): Promise<readonly Problem[]>;
  /** The problem of having no resources. */
  readonly nothingFound: Problem;
  /** What holds the resources of a layer, as problems call it. */
  fileOf(layer: string): string;
  /** What to do about a group that has a rule and no resources. */
  addToLayer(layer: string): string;
}

/** Makes loads, each from all files there are. Parts that did not change are the same objects in the next load. */
export class LoadAssembly {
  readonly #options: LoadAssemblyOptions;
  readonly #assembler = new Assembler();
  readonly #listenerAddresses: ListenerAddresses;
  #placed:
    | { readonly settings: SettingsContent; readonly layers: string; readonly nodeMapping: NodeMapping }
    | undefined;
  #hasGoodReferences = false;

  constructor(options: LoadAssemblyOptions) {
    this.#options = options;
    this.#listenerAddresses = new ListenerAddresses(options.api);
  }

  async assemble({ files, settings: content, problems: before }: LoadParts): Promise<Load> {
    const { api, place } = this.#options;
    const { layers, problems: duplicates, hasSameShape } = this.#assembler.assemble(files);
    // Those that were found before may stand in other lines now.
    const isKnownGood = hasSameShape && this.#hasGoodReferences;
    const references = isKnownGood ? [] : checkReferences(files, api);
    // What is refused satisfies references only until it is mended or gone.
    this.#hasGoodReferences =
      references.length === 0 && files.every(({ content: { refused } }) => refused.length === 0);
    const bound = new ProblemBound();
    const crossProblems = [
      ...duplicates,
      ...references,
      ...(await this.#listenerAddresses.check(files)),
      ...checkTtls(files, api),
    ].filter(({ severity }) => bound.admits(severity));
    const resources = [...layers.values()].reduce((sum, { length }) => sum + length, 0);
    const found = [
      ...before,
      ...content.problems,
      ...files.flatMap((file) => file.content.problems),
      ...this.#groupProblems(content.groups, layers),
      ...(await place(crossProblems)),
      ...bound.summary("."),
    ];
    if (resources === 0 && !hasErrors(found) && !this.#mayBeEmpty(content)) found.push(this.#options.nothingFound);
    const problems = sortProblems(found);
    if (hasErrors(problems)) return { state: undefined, problems };
    const nodeMapping = this.#nodeMappingFor(content, new Set(layers.keys()));
    const { settings, clients, listeners } = content;
    const state: LoadedState = { layers, settings, clients, listeners, nodeMapping, files: files.length, resources };
    return { state, problems };
  }

  /** The same function as long as rules and layers are the same: nobody has to be placed again then. */
  #nodeMappingFor(settings: SettingsContent, layers: ReadonlySet<string>): NodeMapping {
    const key = JSON.stringify([...layers]);
    if (this.#placed?.settings !== settings || this.#placed.layers !== key) {
      this.#placed = { settings, layers: key, nodeMapping: createNodeMapping(settings.groups, layers) };
    }
    return this.#placed.nodeMapping;
  }

  #mayBeEmpty({ settings }: SettingsContent): boolean {
    return this.#options.allowEmpty ?? settings["allow-empty"] === true;
  }

  #groupProblems(rules: readonly PlacedRule[], layers: ReadonlyMap<string, unknown>): readonly Problem[] {
    const { fileOf, addToLayer } = this.#options;
    const problems: Problem[] = [];
    const named = new Set(rules.map(({ name }) => `group/${name}`));
    for (const { name, line, column } of rules) {
      if (layers.has(`group/${name}`)) continue;
      const message = `the group ${quote(name)} has no files`;
      const hint = addToLayer(`group/${name}`);
      problems.push({
        ...{ code: "GROUP_WITHOUT_FILES", severity: "warning", file: settingsFile },
        ...{ line, column, message, hint },
      });
    }
    for (const layer of layers.keys()) {
      if (!layer.startsWith("group/") || named.has(layer)) continue;
      const message = `no rule puts a node into the group ${quote(layer.slice("group/".length))}`;
      const hint = `add a rule to groups in ${settingsFile}`;
      problems.push({ code: "GROUP_UNREACHABLE", severity: "warning", file: fileOf(layer), message, hint });
    }
    return problems;
  }
}
