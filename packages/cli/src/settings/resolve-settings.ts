import { isAbsolute, resolve } from "node:path";
import {
  readServerSwitches,
  readSettingValue,
  type Setting,
  type SettingKey,
  type SettingPlaces,
  type SettingsContent,
  type SettingValue,
  settingsFile,
  settingTable,
} from "@xdskit/source";
import { flagNameOf, variableOf } from "./setting-flag.ts";
import { splitPaths } from "./split-paths.ts";

/** The position of a value in `xdskit.yaml`. */
type SettingPlace = NonNullable<SettingPlaces[SettingKey]>;

/** Where settings come from, in order of precedence; defaults come last. */
export interface SettingSources {
  /** Flags as Commander parses them, by their names in camel case. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values of `xdskit.yaml`, and their places. */
  readonly file: Pick<SettingsContent, "settings" | "places">;
  /** Base directory of relative paths in flags and variables. */
  readonly cwd: string;
  /** Base directory of relative paths in the file. */
  readonly directory: string;
}

/** A sentence about an invalid flag or variable, with its name. */
export type SettingTrouble = string;

/** All settings, and everything wrong with the flags and variables. */
export interface ResolvedSettings {
  readonly values: SettingValues;
  readonly troubles: readonly SettingTrouble[];
}

/** Resolves each setting: flag, else variable, else file, else default. */
export function resolveSettings(sources: SettingSources): ResolvedSettings {
  const values = new Map<SettingKey, Given>();
  const troubles: SettingTrouble[] = [];
  for (const setting of settingTable) {
    if (setting.kind === "switches") {
      values.set(setting.key, everySwitch(setting, sources, troubles));
      continue;
    }
    const found = firstGiven(setting, sources);
    if (typeof found === "string") troubles.push(found);
    else if (found !== undefined) values.set(setting.key, found);
  }
  return { values: new SettingValues(values), troubles };
}

/** A setting's value, and its origin: a flag, a variable or a place in `xdskit.yaml`; undefined for a default. */
interface Given {
  readonly value: SettingValue;
  readonly origin: string | undefined;
  /** The place in `xdskit.yaml`, if that is the origin. */
  readonly place?: SettingPlace | undefined;
}

/** Joins the switches of all sources, in rising precedence: for a repeated switch, the last value counts. */
function everySwitch({ key }: Setting, { flags, env, file }: SettingSources, troubles: SettingTrouble[]): Given {
  const flag = flags[camelcase(flagNameOf(key))];
  const given: readonly (readonly [origin: string, texts: unknown])[] = [
    [settingsFile, file.settings[key]],
    [variableOf(key), env[variableOf(key)]?.split(",").filter((text) => text !== "")],
    [`--${flagNameOf(key)}`, flag],
  ];
  const value = given.flatMap(([origin, texts]) => {
    const known = Array.isArray(texts) ? texts.map(String) : [];
    troubles.push(...readServerSwitches(known).troubles.map((trouble) => `${origin}: ${trouble}`));
    return known;
  });
  return { value, origin: undefined };
}

function firstGiven(
  setting: Setting,
  { flags, env, file, cwd, directory }: SettingSources,
): Given | SettingTrouble | undefined {
  const flag = flags[camelcase(flagNameOf(setting.key))];
  if (flag !== undefined) return read(setting, flag, `--${flagNameOf(setting.key)}`, cwd);
  const variable = variableOf(setting.key);
  const fromEnv = env[variable];
  if (fromEnv !== undefined && fromEnv !== "") {
    return read(setting, splitVariable(setting, fromEnv), variable, cwd);
  }
  const fromFile = file.settings[setting.key];
  if (fromFile !== undefined) {
    const place = file.places[setting.key];
    const where = place === undefined ? settingsFile : `${settingsFile}:${place.line}:${place.column}`;
    return { value: withPaths(setting, fromFile, directory), origin: `${where}: ${setting.key}`, place };
  }
  return setting.default === undefined ? undefined : read(setting, setting.default, undefined, directory);
}

function read(setting: Setting, given: unknown, origin: string | undefined, from: string): Given | SettingTrouble {
  const { value, trouble } = readSettingValue(setting, given);
  if (trouble === undefined) return { value: withPaths(setting, value, from), origin };
  const hint = trouble.hint === undefined ? "" : ` (${trouble.hint})`;
  return `${origin ?? setting.key}: ${trouble.message}${hint}`;
}

function splitVariable({ kind }: Setting, text: string): string | readonly string[] {
  if (kind === "paths") return splitPaths(text);
  return kind === "texts" || kind === "certificate-names" ? text.split(",").filter((part) => part !== "") : text;
}

function withPaths(setting: Setting, value: SettingValue, from: string): SettingValue {
  if (setting.kind === "path" && typeof value === "string") return absolute(value, from);
  if (setting.kind === "path-or-off" && typeof value === "string")
    return value === "off" ? value : absolute(value, from);
  if (setting.kind === "paths" && typeof value === "object") return value.map((path) => absolute(path, from));
  return value;
}

function absolute(path: string, from: string): string {
  return isAbsolute(path) ? path : resolve(from, path);
}

/** All settings by key; each kind has its own method. */
export class SettingValues {
  readonly #values: ReadonlyMap<SettingKey, Given>;

  constructor(values: ReadonlyMap<SettingKey, Given>) {
    this.#values = values;
  }

  /** The flag, variable or place in `xdskit.yaml` that set it; undefined for a default. */
  originOf(key: SettingKey): string | undefined {
    return this.#values.get(key)?.origin;
  }

  /** The place in `xdskit.yaml` that set it; undefined for a flag, a variable or a default. */
  placeOf(key: SettingKey): SettingPlace | undefined {
    return this.#values.get(key)?.place;
  }

  text(key: SettingKey): string | undefined {
    const value = this.#values.get(key)?.value;
    return typeof value === "string" ? value : undefined;
  }

  number(key: SettingKey): number | undefined {
    const value = this.#values.get(key)?.value;
    return typeof value === "number" ? value : undefined;
  }

  flag(key: SettingKey): boolean | undefined {
    const value = this.#values.get(key)?.value;
    return typeof value === "boolean" ? value : undefined;
  }

  list(key: SettingKey): readonly string[] {
    const value = this.#values.get(key)?.value;
    return typeof value === "object" ? value : [];
  }
}

/** The key of a flag in Commander's options: `max-streams` is `maxStreams`. */
function camelcase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
