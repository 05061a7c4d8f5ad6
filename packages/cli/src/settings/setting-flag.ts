import { type Setting, type SettingKey, settingTable } from "@xdskit/source/settings";
import { type Command, Option } from "commander";

/** The settings of every command that reads a directory or a module. */
export const SOURCE_SETTINGS: readonly SettingKey[] = [
  "descriptors",
  "validation",
  "secret-files",
  "allow-empty",
  "limits.max-file-bytes",
  "limits.module-timeout",
];

/**
 * The flag of a setting: `limits.max-streams` is `--max-streams`, and other dots become hyphens. `switches` is
 * `--switch`, which may be repeated.
 */
export function flagNameOf(key: SettingKey): string {
  return key === "switches" ? "switch" : plainNameOf(key);
}

function plainNameOf(key: SettingKey): string {
  return key.replace(/^limits\./, "").replaceAll(".", "-");
}

/** The environment variable of a setting: `limits.max-streams` is XDS_MAX_STREAMS. */
export function variableOf(key: SettingKey): string {
  return `XDS_${plainNameOf(key).replaceAll("-", "_").toUpperCase()}`;
}

/** The placeholder of each kind of value in help. */
const VALUES: Readonly<Record<Exclude<Setting["kind"], "boolean">, string>> = {
  address: "<host:port>",
  "address-or-off": "<host:port>",
  duration: "<duration>",
  count: "<n>",
  bytes: "<size>",
  path: "<file>",
  "path-or-off": "<path>",
  "duration-or-off": "<duration>",
  "share-or-off": "<percent>",
  "count-or-auto": "<n>",
  paths: "<file>",
  word: "<word>",
  text: "<text>",
  texts: "<text>",
  "certificate-names": "<name>",
  switches: "<name=value>",
};

/** Adds the flags of all settings, or of the given ones, to a command. */
export function addSettingFlags(command: Command, keys?: readonly SettingKey[]): void {
  for (const setting of settingTable) {
    if (keys !== undefined && !keys.includes(setting.key)) continue;
    for (const option of optionsOf(setting)) command.addOption(option.helpGroup("Settings:"));
  }
}

function optionsOf(setting: Setting): readonly Option[] {
  const name = flagNameOf(setting.key);
  const several = isList(setting) ? "; may be repeated (in the variable: comma-separated)" : "";
  const says = `${sentence(setting)}${several} [${variableOf(setting.key)}]`;
  if (setting.kind === "boolean") {
    const on = new Option(`--${name}`, says);
    if (setting.default !== "true") return [on, new Option(`--no-${name}`).hideHelp()];
    const off = new Option(`--no-${name}`, `Disable ${nameOf(setting)} [${variableOf(setting.key)}]`);
    return [on.hideHelp(), off];
  }
  const value = setting.words === undefined ? VALUES[setting.kind] : `<${setting.words.join("|")}>`;
  const option = new Option(`--${name} ${value}`, says);
  if (!isList(setting)) return [option];
  return [option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text])];
}

/** The name of what a setting turns on: its sentence up to the first punctuation mark. */
function nameOf({ doc }: Setting): string {
  const name = doc.split(/[:,.]/)[0] ?? doc;
  return /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
}

function isList({ kind }: Setting): boolean {
  return kind === "paths" || kind === "texts" || kind === "certificate-names" || kind === "switches";
}

function sentence({ doc, default: byDefault, kind }: Setting): string {
  const text = doc.replace(/\.$/, "");
  return byDefault === undefined || kind === "boolean" ? text : `${text} (default ${byDefault})`;
}
