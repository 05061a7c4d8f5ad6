import type { AccessRules, ClientRule, GroupRule } from "@xdskit/protocol";
import { formatPath, nearestName, quote, type ValuePath } from "@xdskit/protocol/internal";
import { decodeText } from "../document/file-text.ts";
import { entryOf, isMapping } from "../document/places.ts";
import { SourceText } from "../document/source-text.ts";
import { settingsFile } from "../layout.ts";
import { optionalHint, type Problem } from "../problem.ts";
import { readAccess } from "./access-reading.ts";
import { type ListenerSettings, readClients, readGlobalSwitches, readListeners } from "./choice-reading.ts";
import { readMatch } from "./match-reading.ts";
import { type SettingKey, type Settings, type SettingValue, settingTable } from "./setting-table.ts";
import { readSettingValue } from "./setting-value.ts";
import { type SettingPlace, SettingsNotes } from "./settings-notes.ts";
import { readSeverities, type Severities } from "./severity.ts";

/** The content of `xdskit.yaml`; not to be used if a problem is an error. */
export interface SettingsContent {
  readonly settings: Settings;
  /** The positions of the settings' values. */
  readonly places: SettingPlaces;
  /** In the order of the file, with the position of each name. */
  readonly groups: readonly PlacedRule[];
  /** Rules for single clients; the first match counts. */
  readonly clients: readonly ClientRule[];
  /** Who may have what; undefined: the defaults. */
  readonly access?: AccessRules | undefined;
  /** How problems count, by code; undefined: as usual. */
  readonly severities?: Severities | undefined;
  /** The positions of the access rules, in their order. */
  readonly accessPlaces?: readonly SettingPlace[];
  /** The types, layers and resources that the access rules name. */
  readonly accessNames?: readonly AccessName[];
  /** Listen addresses besides `listen`. */
  readonly listeners: readonly ListenerSettings[];
  readonly problems: readonly Problem[];
}

/** The positions of settings' values in `xdskit.yaml`. */
export type SettingPlaces = Partial<Readonly<Record<SettingKey, SettingPlace>>>;

/** A type or a layer that an access rule names, without a pattern, or a pattern of names of resources. */
export interface AccessName extends SettingPlace {
  readonly kind: "types" | "layers" | "names";
  readonly name: string;
  /** Whether the rule denies. */
  readonly deny: boolean;
  readonly path: string;
}

/** A group rule, and the position of its name. */
export interface PlacedRule extends GroupRule, SettingPlace {}

/** The settings without a file, and of one without content. */
export const noSettings: SettingsContent = {
  settings: {},
  places: {},
  groups: [],
  clients: [],
  listeners: [],
  problems: [],
};

/** Reads the settings file, with all its problems. An empty file, or one with only comments, has no settings. */
export function readSettingsFile(bytes: Uint8Array): SettingsContent {
  const { text, problem } = decodeText(settingsFile, bytes);
  if (text === undefined) return problem.code === "FILE_EMPTY" ? noSettings : { ...noSettings, problems: [problem] };
  return new SettingsReading(new SourceText(text, "yaml")).read();
}

class SettingsReading {
  readonly #source: SourceText;
  readonly #notes: SettingsNotes;
  readonly #settings = new Map<SettingKey, SettingValue>();
  readonly #places = new Map<SettingKey, SettingPlace>();
  #clients: readonly ClientRule[] = [];
  #access: AccessRules | undefined;
  #severities: Severities | undefined;
  #listeners: readonly ListenerSettings[] = [];
  readonly #groups: PlacedRule[] = [];

  constructor(source: SourceText) {
    this.#source = source;
    this.#notes = new SettingsNotes(source);
  }

  read(): SettingsContent {
    const { documents, troubles } = this.#source.parsed;
    for (const { code, offset, message, hint } of troubles) {
      const problem = { code, severity: "error", file: settingsFile, message, ...optionalHint(hint) } as const;
      this.#notes.problems.push({ ...problem, ...this.#source.showOffset(offset) });
    }
    const [document, second] = documents;
    if (document === undefined && troubles.length === 0) return noSettings;
    if (document !== undefined && troubles.length === 0) {
      if (isMapping(document.value)) this.#readMapping(document.value, []);
      else this.#notes.wrongType([], "settings", document.value);
    }
    if (second !== undefined) {
      const message = "expected one document, got several";
      this.#notes.note("SETTING_INVALID", [], "value", message, "put all settings under one another, without ---");
    }
    return {
      settings: Object.fromEntries(this.#settings),
      places: Object.fromEntries(this.#places),
      groups: this.#groups,
      clients: this.#clients,
      access: this.#access,
      severities: this.#severities,
      accessPlaces: (this.#access?.rules ?? []).map((_, index) => this.#notes.placeOf(["access", "rules", index])),
      accessNames: this.#accessNames(),
      listeners: this.#listeners,
      problems: this.#notes.problems,
    };
  }

  #accessNames(): readonly AccessName[] {
    const lists = (this.#access?.rules ?? []).flatMap((rule, index) =>
      (["types", "layers", "names"] as const).flatMap((kind) =>
        (rule[kind] ?? []).map((name, at) => ({
          ...{ kind, name, deny: rule.deny === true },
          path: ["access", "rules", index, kind, at],
        })),
      ),
    );
    // What is no name at all is an error already.
    const mistaken = new Set(this.#notes.problems.map(({ path }) => path));
    return lists.flatMap(({ path, ...named }): readonly AccessName[] => {
      const field = formatPath(path);
      const isOpen = named.kind !== "names" && /[*{]/.test(named.name);
      return isOpen || mistaken.has(field) ? [] : [{ ...named, path: field, ...this.#notes.placeOf(path) }];
    });
  }

  /** A key may be nested (`tls: { cert: x }`) or dotted (`tls.cert: x`). */
  #readMapping(mapping: Readonly<Record<string, unknown>>, path: readonly string[]): void {
    for (const [name, value] of Object.entries(mapping)) {
      const here = [...path, name];
      const key = here.join(".");
      const setting = settingTable.find((row) => row.key === key);
      if (key === "groups") this.#readGroups(value);
      else if (key === "clients") this.#clients = readClients(this.#notes, value);
      else if (key === "access") this.#access = readAccess(this.#notes, value);
      else if (key === "severity") this.#severities = readSeverities(this.#notes, value);
      else if (key === "listeners") this.#listeners = readListeners(this.#notes, value);
      else if (key === "switches") this.#set("switches", readGlobalSwitches(this.#notes, value), here);
      else if (setting !== undefined) {
        const { value: read, trouble } = readSettingValue(setting, value);
        if (trouble !== undefined) this.#notes.note(trouble.code, here, "value", trouble.message, trouble.hint);
        else this.#set(setting.key, read, here);
      } else if (!settingTable.some((row) => row.key.startsWith(`${key}.`))) this.#unknownSetting(here);
      else if (isMapping(value)) this.#readMapping(value, here);
      else if (value !== null) this.#notes.wrongType(here, "a mapping", value);
    }
  }

  #set(key: SettingKey, value: SettingValue, path: ValuePath): void {
    this.#settings.set(key, value);
    this.#places.set(key, this.#notes.placeOf(path));
  }

  #unknownSetting(path: readonly string[]): void {
    const key = path.join(".");
    const known = [...settingTable.map((row) => row.key), "groups", "listeners", "clients", "access", "severity"];
    const group = key.slice(0, key.indexOf(".") + 1);
    const choice = known.filter((other) => group !== "" && other.startsWith(group));
    const firstParts = [...new Set(known.map((other) => other.split(".", 1).join()))];
    const meant = nearestName(key, [...known, ...firstParts]);
    const listed = (choice.length === 0 ? firstParts : choice).join(", ");
    const hint = meant === undefined ? `there are ${listed}` : `did you mean ${quote(meant)}?`;
    this.#notes.note("SETTING_UNKNOWN", path, "key", `expected a setting, got ${quote(key)}`, hint);
  }

  #readGroups(rules: unknown): void {
    if (rules === null) return;
    if (!Array.isArray(rules)) {
      this.#notes.wrongType(["groups"], "a list of rules", rules);
      return;
    }
    for (const [index, rule] of rules.entries()) this.#readRule(rule, ["groups", index]);
  }

  #readRule(rule: unknown, path: ValuePath): void {
    if (!isMapping(rule)) {
      this.#notes.wrongType(path, "a rule with name and match", rule);
      return;
    }
    this.#notes.refuseOthers(rule, path, ["name", "match"]);
    const name = entryOf(rule, "name");
    const match = readMatch(this.#notes, entryOf(rule, "match"), [...path, "match"]);
    if (typeof name !== "string" || name === "") {
      this.#notes.wrongType([...path, "name"], "the name of a group", name);
      return;
    }
    this.#groups.push({ name, match, ...this.#notes.placeOf([...path, "name"]) });
  }
}
