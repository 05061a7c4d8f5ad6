import type { EnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl, type GroupRule, type Resource } from "@xdskit/protocol";
import { globMatches, nearestName, plainName, quote } from "@xdskit/protocol/internal";
import { Assembler } from "./assemble.ts";
import { type FileChunk, rememberFor } from "./file-chunks.ts";
import type { CrossProblem } from "./file-content.ts";
import { baseLayer, settingsFile } from "./layout.ts";
import { ListenerAddresses } from "./listener-addresses.ts";
import type { Load, LoadedState } from "./loaded-state.ts";
import { hasErrors, type Problem, sortProblems } from "./problem.ts";
import { type CountedProblems, countProblems, mostInLoad, ProblemBound, type ProblemKind } from "./problem-bound.ts";
import { recountedFiles } from "./recounted-files.ts";
import { checkReferences } from "./references.ts";
import type { AccessName, PlacedRule, SettingsContent } from "./settings/settings-file.ts";
import { noSeverities, type Severities, withSeverity } from "./settings/severity.ts";
import { checkTtls } from "./ttls.ts";

/** The input of a load. */
export interface LoadParts {
  /** The files, in the order of the resulting lists of resources. */
  readonly chunks: readonly FileChunk[];
  readonly settings: SettingsContent;
  /** Problems found before any file was read. */
  readonly problems: readonly Problem[];
  readonly crossProblems?: readonly CrossProblem[];
}

/** What differs between a directory and other sources. */
export interface LoadAssemblyOptions {
  readonly api: EnvoyApi;
  /** Whether no resources are a valid state; undefined uses the setting `allow-empty`. */
  readonly allowEmpty: boolean | undefined;
  /** Finds the places of problems between files. */
  place(problems: readonly CrossProblem[]): Promise<readonly Problem[]>;
  /** The problem to report without any resources. */
  readonly nothingFound: Problem;
  /** The file that problems name for a layer. */
  fileOf(layer: string): string;
  /** The hint for a group that has a rule and no resources. */
  addToLayer(layer: string): string;
}

/** Assembles loads from all files. Unchanged parts are the same objects in the next load. */
export class LoadAssembly {
  readonly #options: LoadAssemblyOptions;
  readonly #assembler = new Assembler();
  readonly #listenerAddresses: ListenerAddresses;
  #groups: { readonly of: SettingsContent; readonly rules: readonly GroupRule[] } | undefined;
  #counting: { readonly severities: Severities; readonly of: (chunk: FileChunk) => CountedProblems } | undefined;
  #hasGoodReferences = false;
  /** Of the last load without errors. */
  #chunks: readonly FileChunk[] | undefined;

  constructor(options: LoadAssemblyOptions) {
    this.#options = options;
    this.#listenerAddresses = new ListenerAddresses(options.api);
  }

  async assemble({ chunks, settings: content, problems: before, crossProblems: known = [] }: LoadParts): Promise<Load> {
    const { api, place } = this.#options;
    const { layers, problems: duplicates, hasSameShape } = this.#assembler.assemble(chunks);
    // Problems found before are checked again, because they may have moved to other lines.
    const isKnownGood = hasSameShape && this.#hasGoodReferences;
    const references = isKnownGood ? [] : checkReferences(chunks, api);
    // Rejected resources satisfy references only until they are fixed or removed.
    this.#hasGoodReferences = references.length === 0 && !chunks.some(hasRefused);
    const bound = new ProblemBound(mostInLoad);
    const { severities = noSeverities } = content;
    const counted = <P extends Pick<Problem, "code" | "severity">>(problem: P): readonly P[] => {
      const counts = withSeverity(problem, severities);
      return counts !== undefined && bound.admits(counts) ? [counts] : [];
    };
    const crossProblems = [
      ...known,
      ...duplicates,
      ...references,
      ...(await this.#listenerAddresses.check(chunks)),
      ...checkTtls(chunks, api),
    ].flatMap(counted);
    const resources = [...layers.values()].reduce((sum, { length }) => sum + length, 0);
    const otherProblems = [
      ...before,
      ...content.problems,
      ...this.#groupProblems(content.groups, layers),
      ...findUnknownNames(content.accessNames ?? [], layers, api),
    ].flatMap(counted);
    const countedOf = this.#countingBy(severities);
    for (const chunk of chunks) for (const problem of bound.admitted(countedOf(chunk))) otherProblems.push(problem);
    const found = [...otherProblems, ...(await place(crossProblems)), ...bound.summary(".")];
    if (resources === 0 && !hasErrors(found) && !this.#mayBeEmpty(content)) found.push(this.#options.nothingFound);
    const problems = sortProblems(found);
    if (hasErrors(problems)) return { state: undefined, problems };
    const { settings, clients, access, listeners } = content;
    const groups = this.#groupsOf(content);
    const state: LoadedState = {
      layers,
      settings,
      clients,
      access,
      listeners,
      groups,
      files: chunks.reduce((sum, { files }) => sum + files.length, 0),
      resources,
    };
    const recounted = this.#chunks === undefined ? [] : recountedFiles(this.#chunks, chunks);
    this.#chunks = chunks;
    return { state, problems, ...(recounted.length > 0 && { recounted }) };
  }

  /** The group rules without their places; the same list while the file is unchanged, so that no node is mapped again. */
  #groupsOf(content: SettingsContent): readonly GroupRule[] {
    if (this.#groups?.of !== content)
      this.#groups = { of: content, rules: content.groups.map(({ name, match }) => ({ name, match })) };
    return this.#groups.rules;
  }

  /** The problems of a chunk are judged once, because each of 100,000 resources may have one. */
  #countingBy(severities: Severities): (chunk: FileChunk) => CountedProblems {
    if (this.#counting?.severities !== severities) {
      const judged = <P extends ProblemKind>(problems: readonly P[]): readonly P[] =>
        problems.flatMap((problem) => withSeverity(problem, severities) ?? []);
      const of = rememberFor(({ files }) =>
        countProblems(
          files.flatMap(({ content }) => judged(content.problemKinds ?? content.problems)),
          () => files.flatMap(({ content }) => judged(content.problems)),
        ),
      );
      this.#counting = { severities, of };
    }
    return this.#counting.of;
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

const hasRefused = rememberFor(({ files }) => files.some(({ content }) => content.refused.length > 0));

/** Finds types, layers and resources in access rules that do not exist: most likely they are misspelt. */
function findUnknownNames(
  names: readonly AccessName[],
  layers: ReadonlyMap<string, readonly Resource[]>,
  api: EnvoyApi,
): readonly Problem[] {
  return names.flatMap(({ kind, name, deny, path, line, column }): readonly Problem[] => {
    if (isKnown(kind, name, layers, api)) return [];
    const known =
      kind === "layers"
        ? [baseLayer, ...layers.keys()]
        : kind === "types"
          ? api.types.map(({ type }) => lastPart(type))
          : [];
    const meant = nearestName(name, known);
    const message = unknownMessages[kind](quote(name));
    const idle = deny ? "the rule denies nothing of it" : "the rule gives nothing of it";
    const hint = meant === undefined ? idle : `did you mean ${quote(meant)}?`;
    const at = { file: settingsFile, line, column, path };
    // What was to be denied would be given. A layer or a resource may come later, a type does not.
    if (deny && kind === "types") return [{ code: "SETTING_INVALID", severity: "error", ...at, message, hint }];
    return [{ code: "ACCESS_NAME_UNKNOWN", severity: "warning", ...at, message, hint }];
  });
}

const unknownMessages: Readonly<Record<AccessName["kind"], (name: string) => string>> = {
  types: (name) => `there is no type ${name}`,
  layers: (name) => `there is no layer ${name}`,
  names: (name) => `no resource has a name that ${name} matches`,
};

function isKnown(
  kind: AccessName["kind"],
  name: string,
  layers: ReadonlyMap<string, readonly Resource[]>,
  api: EnvoyApi,
): boolean {
  switch (kind) {
    case "types":
      return isKnownType(name, api);
    case "layers":
      return name === baseLayer || layers.has(name);
    case "names": {
      // What a capture stands for is not known here.
      const glob = name.replace(/\{[^}]*\}/g, "*");
      // In a pattern of a rule only `*` has a meaning; a glob would take `?` for any character too.
      const pattern = glob.includes("?") ? undefined : glob;
      const lists = [...layers.values()];
      if (pattern === undefined || lists.every(({ length }) => length === 0)) return true;
      return lists.some((list) => list.some((resource) => globMatches(pattern, plainName(resource.name))));
    }
  }
}

/** Rules name types by type URL, message name or its last part. */
function isKnownType(name: string, api: EnvoyApi): boolean {
  const message = name.slice(name.lastIndexOf("/") + 1);
  const types = api.types.flatMap(({ type, v2Twin }) => (v2Twin === undefined ? [type] : [type, v2Twin]));
  return (
    types.some((type) => type.endsWith(`/${message}`) || type.endsWith(`.${message}`)) ||
    api.knows(formatTypeUrl(message))
  );
}

function lastPart(type: string): string {
  return type.slice(type.lastIndexOf(".") + 1);
}
