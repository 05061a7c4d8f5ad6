import { decodeText } from "../document/file-text.ts";
import { describeKind, entryOf, isMapping, type Part } from "../document/places.ts";
import { SourceText } from "../document/source-text.ts";
import { settingsFile } from "../layout.ts";
import { nearest } from "../nearest.ts";
import { formatPath, optionalHint, type Problem, quote, type SourceProblemCode, type ValuePath } from "../problem.ts";
import type { GroupRule, MetadataMatch, NodeMatch, Patterns } from "./group-rule.ts";
import { type SettingKey, type Settings, type SettingValue, settingTable } from "./setting-table.ts";
import { readSettingValue } from "./setting-value.ts";

/** What `xdskit.yaml` says; nothing of it holds if there is an error among the problems. */
export interface SettingsContent {
  readonly settings: Settings;
  /** Where the value of each setting stands. */
  readonly places: SettingPlaces;
  /** In the order of the file, with the line and column of each name. */
  readonly groups: readonly PlacedRule[];
  readonly problems: readonly Problem[];
}

/** Where the value of a setting stands in `xdskit.yaml`. */
export type SettingPlaces = Partial<Readonly<Record<SettingKey, { readonly line: number; readonly column: number }>>>;

/** A rule, and where its name stands. */
export interface PlacedRule extends GroupRule {
  readonly line: number;
  readonly column: number;
}

/** What holds without a file. */
export const noSettings: SettingsContent = { settings: {}, places: {}, groups: [], problems: [] };

/** Reads the settings file, with every problem in it. An empty one says nothing, as does one of comments. */
export function readSettingsFile(bytes: Uint8Array): SettingsContent {
  const { text, problem } = decodeText(settingsFile, bytes);
  if (text === undefined) return problem.code === "FILE_EMPTY" ? noSettings : { ...noSettings, problems: [problem] };
  return new SettingsReading(new SourceText(text, "yaml")).read();
}

const NODE_FIELDS: readonly string[] = ["id", "cluster", "locality", "metadata"];
const LOCALITY_FIELDS: readonly string[] = ["region", "zone", "sub_zone"];

class SettingsReading {
  readonly #source: SourceText;
  readonly #problems: Problem[] = [];
  readonly #settings = new Map<SettingKey, SettingValue>();
  readonly #places = new Map<SettingKey, { readonly line: number; readonly column: number }>();
  readonly #groups: PlacedRule[] = [];

  constructor(source: SourceText) {
    this.#source = source;
  }

  read(): SettingsContent {
    const { documents, troubles } = this.#source.parsed;
    for (const { code, offset, message, hint } of troubles) {
      const problem = { code, severity: "error", file: settingsFile, message, ...optionalHint(hint) } as const;
      this.#problems.push({ ...problem, ...this.#source.showOffset(offset) });
    }
    const [document, second] = documents;
    if (document !== undefined && troubles.length === 0) {
      if (isMapping(document.value)) this.#readMapping(document.value, []);
      else this.#wrongType([], "settings", document.value);
    }
    if (second !== undefined) {
      const message = "expected one document, got several";
      this.#note("SETTING_INVALID", [], "value", message, "put all settings under one another, without ---");
    }
    return {
      settings: Object.fromEntries(this.#settings),
      places: Object.fromEntries(this.#places),
      groups: this.#groups,
      problems: this.#problems,
    };
  }

  /** A setting's key may be nested (`tls: { cert: x }`) or written in one (`tls.cert: x`). */
  #readMapping(mapping: Readonly<Record<string, unknown>>, path: readonly string[]): void {
    for (const [name, value] of Object.entries(mapping)) {
      const here = [...path, name];
      const key = here.join(".");
      const setting = settingTable.find((row) => row.key === key);
      if (key === "groups") this.#readGroups(value);
      else if (setting !== undefined) {
        const { value: read, trouble } = readSettingValue(setting, value);
        if (trouble !== undefined) this.#note(trouble.code, here, "value", trouble.message, trouble.hint);
        else {
          this.#settings.set(setting.key, read);
          this.#places.set(setting.key, this.#placeOf(here));
        }
      } else if (!settingTable.some((row) => row.key.startsWith(`${key}.`))) this.#unknownSetting(here);
      else if (isMapping(value)) this.#readMapping(value, here);
      else if (value !== null) this.#wrongType(here, "a mapping", value);
    }
  }

  #unknownSetting(path: readonly string[]): void {
    const key = path.join(".");
    const known = [...settingTable.map((row) => row.key), "groups"];
    const meant = nearest(key, known);
    const group = key.slice(0, key.indexOf(".") + 1);
    const choice = known.filter((other) => other.startsWith(group));
    const listed = (choice.length === 0 ? known : choice).join(", ");
    const hint = meant === undefined ? `there are ${listed}` : `did you mean ${quote(meant)}?`;
    this.#note("SETTING_UNKNOWN", path, "key", `expected a setting, got ${quote(key)}`, hint);
  }

  #readGroups(rules: unknown): void {
    if (rules === null) return;
    if (!Array.isArray(rules)) {
      this.#wrongType(["groups"], "a list of rules", rules);
      return;
    }
    for (const [index, rule] of rules.entries()) this.#readRule(rule, ["groups", index]);
  }

  #readRule(rule: unknown, path: ValuePath): void {
    if (!isMapping(rule)) {
      this.#wrongType(path, "a rule with name and match", rule);
      return;
    }
    this.#refuseOthers(rule, path, ["name", "match"]);
    const name = entryOf(rule, "name");
    const match = this.#readMatch(entryOf(rule, "match"), [...path, "match"]);
    if (typeof name !== "string" || name === "") {
      this.#wrongType([...path, "name"], "the name of a group", name);
      return;
    }
    this.#groups.push({ name, match, ...this.#placeOf([...path, "name"]) });
  }

  #placeOf(path: ValuePath): { readonly line: number; readonly column: number } {
    const { line, column } = this.#source.show({ document: 0, path, part: "value" });
    return { line, column };
  }

  #readMatch(match: unknown, path: ValuePath): NodeMatch {
    if (!isMapping(match)) {
      const hint = 'write { id: "*" } for every node';
      this.#note("SETTING_WRONG_TYPE", path, "value", `expected what a node must be, got ${describeKind(match)}`, hint);
      return {};
    }
    this.#refuseOthers(match, path, NODE_FIELDS);
    const { id, cluster, locality, metadata } = match as Partial<Record<string, unknown>>;
    return {
      ...(id === undefined ? {} : { id: this.#readPatterns(id, [...path, "id"]) }),
      ...(cluster === undefined ? {} : { cluster: this.#readPatterns(cluster, [...path, "cluster"]) }),
      ...(locality === undefined ? {} : { locality: this.#readLocality(locality, [...path, "locality"]) }),
      ...(metadata === undefined ? {} : { metadata: this.#readMetadata(metadata, [...path, "metadata"]) }),
    };
  }

  #readLocality(locality: unknown, path: ValuePath): NonNullable<NodeMatch["locality"]> {
    if (!isMapping(locality)) {
      this.#wrongType(path, "region, zone or sub_zone", locality);
      return {};
    }
    this.#refuseOthers(locality, path, LOCALITY_FIELDS);
    const { region, zone, sub_zone: subZone } = locality as Partial<Record<string, unknown>>;
    return {
      ...(region === undefined ? {} : { region: this.#readPatterns(region, [...path, "region"]) }),
      ...(zone === undefined ? {} : { zone: this.#readPatterns(zone, [...path, "zone"]) }),
      ...(subZone === undefined ? {} : { subZone: this.#readPatterns(subZone, [...path, "sub_zone"]) }),
    };
  }

  #readMetadata(metadata: unknown, path: ValuePath): MetadataMatch {
    if (!isMapping(metadata)) {
      this.#wrongType(path, "fields of the node's metadata", metadata);
      return {};
    }
    const entries = Object.entries(metadata).map(([field, wanted]): [string, Patterns | MetadataMatch] => {
      const here = [...path, field];
      return [field, isMapping(wanted) ? this.#readMetadata(wanted, here) : this.#readPatterns(wanted, here)];
    });
    return Object.fromEntries(entries);
  }

  #readPatterns(given: unknown, path: ValuePath): Patterns {
    const list: readonly unknown[] = Array.isArray(given) ? given : [given];
    const patterns = list.filter((item) => ["string", "number", "boolean"].includes(typeof item)).map(String);
    if (patterns.length !== list.length || list.length === 0)
      this.#wrongType(path, "a pattern, or a list of them", given);
    return patterns;
  }

  #refuseOthers(mapping: Readonly<Record<string, unknown>>, path: ValuePath, known: readonly string[]): void {
    for (const key of Object.keys(mapping)) {
      if (known.includes(key)) continue;
      const meant = nearest(key, known);
      const message = `expected one of ${known.join(", ")}, got ${quote(key)}`;
      const hint = meant === undefined ? "remove it" : `did you mean ${quote(meant)}?`;
      this.#note("SETTING_UNKNOWN", [...path, key], "key", message, hint);
    }
  }

  #wrongType(path: ValuePath, expected: string, got: unknown): void {
    this.#note("SETTING_WRONG_TYPE", path, "value", `expected ${expected}, got ${describeKind(got)}`);
  }

  #note(code: SourceProblemCode, path: ValuePath, part: Part, message: string, hint?: string): void {
    const field = formatPath(path);
    this.#problems.push({
      code,
      severity: "error",
      file: settingsFile,
      ...this.#source.show({ document: 0, path, part }),
      ...(field === "" ? {} : { path: field }),
      message,
      ...optionalHint(hint),
    });
  }
}
