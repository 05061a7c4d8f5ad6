import { isAbsolute, resolve } from "node:path";
import {
  readSettingValue,
  type Setting,
  type SettingKey,
  type Settings,
  type SettingValue,
  settingTable,
} from "@xdskit/source";
import { camelcase } from "./camelcase.ts";
import { flagNameOf, variableOf } from "./setting-flag.ts";

/** Where settings come from; what is earlier goes before what is later, and the defaults of the table come last. */
export interface SettingSources {
  /** As commander gives them: by the flag's name in camel case. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of `xdskit.yaml`. */
  readonly file: Settings;
  /** Paths of flags and variables start here. */
  readonly cwd: string;
  /** Paths of the file start here. */
  readonly directory: string;
}

/** Something wrong with a flag or a variable: one sentence, with its name. */
export type SettingTrouble = string;

/** All settings, and everything that is wrong with what the caller gave. */
export interface ResolvedSettings {
  readonly values: SettingValues;
  readonly troubles: readonly SettingTrouble[];
}

/** Settles each setting: flag, variable, file, default. */
export function resolveSettings(sources: SettingSources): ResolvedSettings {
  const values = new Map<SettingKey, SettingValue>();
  const given = new Set<SettingKey>();
  const troubles: SettingTrouble[] = [];
  for (const setting of settingTable) {
    const found = firstGiven(setting, sources);
    if (found.trouble !== undefined) troubles.push(found.trouble);
    if (found.value === undefined) continue;
    values.set(setting.key, found.value);
    if (found.isGiven) given.add(setting.key);
  }
  return { values: new SettingValues(values, given), troubles };
}

interface Found {
  readonly value?: SettingValue;
  readonly trouble?: SettingTrouble;
  readonly isGiven: boolean;
}

function firstGiven(setting: Setting, { flags, env, file, cwd, directory }: SettingSources): Found {
  const flag = flags[camelcase(flagNameOf(setting.key))];
  if (flag !== undefined) return read(setting, flag, `--${flagNameOf(setting.key)}`, cwd);
  const variable = variableOf(setting.key);
  const fromEnv = env[variable];
  if (fromEnv !== undefined && fromEnv !== "") {
    return read(setting, splitVariable(setting, fromEnv), variable, cwd);
  }
  const fromFile = file[setting.key];
  if (fromFile !== undefined) return { value: withPaths(setting, fromFile, directory), isGiven: true };
  if (setting.default === undefined) return { isGiven: false };
  return { ...read(setting, setting.default, setting.key, directory), isGiven: false };
}

function read(setting: Setting, given: unknown, name: string, from: string): Found {
  const { value, trouble } = readSettingValue(setting, given);
  if (trouble === undefined) return { value: withPaths(setting, value, from), isGiven: true };
  const hint = trouble.hint === undefined ? "" : ` (${trouble.hint})`;
  return { trouble: `${name}: ${trouble.message}${hint}`, isGiven: false };
}

function splitVariable({ kind }: Setting, text: string): string | readonly string[] {
  if (kind === "paths") return splitPaths(text);
  return kind === "texts" ? text.split(",").filter((part) => part !== "") : text;
}

/** A variable names several files with a comma between them, or a colon, as PATH does. */
export function splitPaths(text: string): readonly string[] {
  return text.split(/[,:]/).filter((path) => path !== "");
}

function withPaths(setting: Setting, value: SettingValue, from: string): SettingValue {
  if (setting.kind === "path" && typeof value === "string") return absolute(value, from);
  if (setting.kind === "paths" && typeof value === "object") return value.map((path) => absolute(path, from));
  return value;
}

function absolute(path: string, from: string): string {
  return isAbsolute(path) ? path : resolve(from, path);
}

/** Settings with their values; each is read by the method of its kind. */
export class SettingValues {
  readonly #values: ReadonlyMap<SettingKey, SettingValue>;
  readonly #given: ReadonlySet<SettingKey>;

  constructor(values: ReadonlyMap<SettingKey, SettingValue>, given: ReadonlySet<SettingKey>) {
    this.#values = values;
    this.#given = given;
  }

  /** Somebody gave it; it is not the default. */
  isGiven(key: SettingKey): boolean {
    return this.#given.has(key);
  }

  text(key: SettingKey): string | undefined {
    const value = this.#values.get(key);
    return typeof value === "string" ? value : undefined;
  }

  number(key: SettingKey): number | undefined {
    const value = this.#values.get(key);
    return typeof value === "number" ? value : undefined;
  }

  flag(key: SettingKey): boolean | undefined {
    const value = this.#values.get(key);
    return typeof value === "boolean" ? value : undefined;
  }

  list(key: SettingKey): readonly string[] {
    const value = this.#values.get(key);
    return typeof value === "object" ? value : [];
  }
}
