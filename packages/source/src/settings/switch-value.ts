import {
  type DialectOverrides,
  formatSwitch,
  isPerKind,
  type SwitchField,
  switchFields,
  switchNameOf,
  switchTable,
  typeKinds,
} from "@xdskit/protocol";
import { nearest } from "../nearest.ts";
import { quote } from "../problem.ts";
import type { SettingValue } from "./setting-table.ts";
import { readSettingValue, type ValueTrouble } from "./setting-value.ts";

/** One switch as it is written: its name, with the kind of resource behind a dot if it is set for one, and its value. */
export interface SwitchText {
  readonly field: SwitchField;
  /** Undefined: it is set for every kind, or there are none. */
  readonly kind: string | undefined;
  readonly value: SettingValue;
}

/** A switch, or what is wrong with it. */
export type SwitchResult = SwitchText | SwitchTrouble;

/** What is wrong with a switch. */
export interface SwitchTrouble {
  readonly code: ValueTrouble["code"] | "SETTING_UNKNOWN";
  /** Whether the name is wrong, or the value. */
  readonly part: "key" | "value";
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Reads a switch by its name; behind a dot there may be the kind of resource that it is set for. */
export function readSwitch(name: string, given: unknown): SwitchResult {
  const [first = "", kind] = name.split(/\.(.*)/s);
  const field = switchFields.find((known) => switchNameOf(known) === first);
  if (field === undefined) return unknownSwitch(first);
  if (kind !== undefined && !isPerKind(field)) return bad(`${first} is the same for every kind of resource`);
  if (kind !== undefined && !typeKinds.some((known) => known === kind)) return unknownKind(kind);
  const { value, trouble } = readSettingValue(switchTable[field].form, given);
  if (trouble === undefined) return { field, kind, value };
  return { code: trouble.code, part: "value", message: trouble.message, hint: trouble.hint };
}

/** Reads `NAME=VALUE`, as a flag has it. */
function readSwitchText(text: string): SwitchResult {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined)
    return bad(`expected NAME=VALUE, got ${quote(text)}`, "such as deltaMissing=none or deltaMissing.rds=none");
  return readSwitch(name, value);
}

/** What the switches of a whole server come to, and everything that is wrong with them, each in a sentence. */
export function readServerSwitches(texts: readonly string[]): {
  readonly overrides: DialectOverrides;
  readonly troubles: readonly string[];
} {
  const troubles: string[] = [];
  const good = texts.flatMap((text) => {
    const read = readSwitchText(text);
    const trouble = "message" in read ? read : isSetElsewhere(read);
    if (trouble === undefined) return "message" in read ? [] : [read];
    const hint = trouble.hint === undefined ? "" : ` (${trouble.hint})`;
    troubles.push(`${quote(text)}: ${trouble.message}${hint}`);
    return [];
  });
  return { overrides: overridesOf(good), troubles };
}

/** Why a switch must not be set for the whole server: it is a setting of its own there. Undefined: it may. */
export function isSetElsewhere({ field, kind, value }: SwitchText): SwitchTrouble | undefined {
  const { setting } = switchTable[field];
  if (setting === undefined || kind !== undefined) return undefined;
  const message = `${switchNameOf(field)} has a setting of its own for the whole server`;
  return bad(message, `write ${setting}: ${formatSwitch(field, value)}`);
}

/** What switches come to; of the same one the last counts, and one for every kind replaces what was said of single kinds. */
export function overridesOf(switches: readonly SwitchText[]): DialectOverrides {
  const overrides = new Map<SwitchField, unknown>();
  for (const { field, kind, value } of switches) {
    if (!isPerKind(field)) overrides.set(field, plain(value));
    else if (kind === undefined) overrides.set(field, { otherwise: plain(value) });
    else overrides.set(field, { ...asObject(overrides.get(field)), [kind]: plain(value) });
  }
  return Object.fromEntries(overrides);
}

/** Words may be `true` and `false`. */
function plain(value: SettingValue): SettingValue {
  return value === "true" || value === "false" ? value === "true" : value;
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

function unknownSwitch(name: string): SwitchTrouble {
  const names = switchFields.map(switchNameOf);
  const meant = nearest(name, names);
  const hint = meant === undefined ? `there are ${names.join(", ")}` : `did you mean ${quote(meant)}?`;
  return { code: "SETTING_UNKNOWN", part: "key", message: `expected a switch, got ${quote(name)}`, hint };
}

function unknownKind(kind: string): SwitchTrouble {
  const meant = nearest(kind, typeKinds);
  const hint = meant === undefined ? `there are ${typeKinds.join(", ")}` : `did you mean ${quote(meant)}?`;
  return { code: "SETTING_UNKNOWN", part: "key", message: `expected a kind of resource, got ${quote(kind)}`, hint };
}

function bad(message: string, hint?: string): SwitchTrouble {
  return { code: "SETTING_INVALID", part: "key", message, hint };
}
