import type { DialectOverrides } from "@xdskit/protocol";
import {
  formatSwitch,
  isPerKind,
  nearestName,
  quote,
  type SwitchField,
  switchFields,
  switchNameOf,
  switchTable,
  typeKinds,
} from "@xdskit/protocol/internal";
import type { SettingValue } from "./setting-table.ts";
import { readSettingValue, type ValueTrouble } from "./setting-value.ts";

/** A switch as written: its name, an optional kind of resource after a dot, and its value. */
export interface SwitchText {
  readonly field: SwitchField;
  /** Undefined: for all kinds, or the switch does not depend on the kind. */
  readonly kind: string | undefined;
  readonly value: SettingValue;
}

/** A switch, or what is wrong with it. */
export type SwitchResult = SwitchText | SwitchTrouble;

/** A mistake in a switch. */
export interface SwitchTrouble {
  readonly code: ValueTrouble["code"] | "SETTING_UNKNOWN";
  /** Whether the name or the value is wrong. */
  readonly part: "key" | "value";
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Reads a switch; its name may end with a dot and a kind of resource. */
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

/** Reads `NAME=VALUE`, as in a flag. */
function readSwitchText(text: string): SwitchResult {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined)
    return bad(`expected NAME=VALUE, got ${quote(text)}`, "such as deltaMissing=none or deltaMissing.rds=none");
  return readSwitch(name, value);
}

/** Reads the switches of a whole server, and lists all mistakes, one sentence each. */
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

/** Why a switch must not be set for the whole server, where it is a setting of its own. Undefined: it may. */
export function isSetElsewhere({ field, kind, value }: SwitchText): SwitchTrouble | undefined {
  const { setting } = switchTable[field];
  if (setting === undefined || kind !== undefined) return undefined;
  const message = `${switchNameOf(field)} has a setting of its own for the whole server`;
  return bad(message, `write ${setting}: ${formatSwitch(field, value)}`);
}

/**
 * The dialect overrides of switches; the last of equal ones counts, and one for all kinds replaces earlier ones for
 * single kinds.
 */
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
  const meant = nearestName(name, names);
  const hint = meant === undefined ? `there are ${names.join(", ")}` : `did you mean ${quote(meant)}?`;
  return { code: "SETTING_UNKNOWN", part: "key", message: `expected a switch, got ${quote(name)}`, hint };
}

function unknownKind(kind: string): SwitchTrouble {
  const meant = nearestName(kind, typeKinds);
  const hint = meant === undefined ? `there are ${typeKinds.join(", ")}` : `did you mean ${quote(meant)}?`;
  return { code: "SETTING_UNKNOWN", part: "key", message: `expected a kind of resource, got ${quote(kind)}`, hint };
}

function bad(message: string, hint?: string): SwitchTrouble {
  return { code: "SETTING_INVALID", part: "key", message, hint };
}
