import { type Choice, type ClientRule, type Edition, editions } from "@xdskit/protocol";
import type { ValuePath } from "@xdskit/protocol/internal";
import { formatSwitch, switchNameOf } from "@xdskit/protocol/internal";
import { entryOf, isMapping } from "../document/places.ts";
import { readMatch } from "./match-reading.ts";
import { type Setting, type SettingKey, settingTable } from "./setting-table.ts";
import { readSettingValue } from "./setting-value.ts";
import type { SettingPlace, SettingsNotes } from "./settings-notes.ts";
import { isSetElsewhere, overridesOf, readSwitch, type SwitchResult, type SwitchText } from "./switch-value.ts";

/** An entry of `listeners` in `xdskit.yaml`. */
export interface ListenerSettings extends Choice, SettingPlace {
  /** `host:port`. */
  readonly address: string;
  /** Undefined: as for the server; `off`: none. */
  readonly tls: ListenerTls | "off" | undefined;
}

/** TLS files of one listener; paths as written. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
  readonly crl?: string;
  readonly requireClientCertificate?: boolean;
}

/** Reads the switches of the whole server, each as `NAME=VALUE`. */
export function readGlobalSwitches(notes: SettingsNotes, switches: unknown): readonly string[] {
  return readSwitches(notes, switches, ["switches"], isSetElsewhere).map(({ field, kind, value }) => {
    const name = kind === undefined ? switchNameOf(field) : `${switchNameOf(field)}.${kind}`;
    return `${name}=${formatSwitch(field, value)}`;
  });
}

/** Reads the rules for single clients. */
export function readClients(notes: SettingsNotes, rules: unknown): readonly ClientRule[] {
  return eachOf(notes, rules, "clients", "a rule with match, edition and switches").map(({ item, path }) => {
    notes.refuseOthers(item, path, ["match", "edition", "switches"]);
    return { match: readMatch(notes, entryOf(item, "match"), [...path, "match"]), ...readChoice(notes, item, path) };
  });
}

/** Reads the listen addresses besides `listen`. */
export function readListeners(notes: SettingsNotes, listeners: unknown): readonly ListenerSettings[] {
  const read = eachOf(notes, listeners, "listeners", "a listener with address, edition, switches and tls");
  return read.flatMap(({ item, path }) => {
    notes.refuseOthers(item, path, ["address", "edition", "switches", "tls"]);
    const address = readOne(notes, "listen", entryOf(item, "address"), [...path, "address"]);
    const tls = readTls(notes, entryOf(item, "tls"), [...path, "tls"]);
    const choice = readChoice(notes, item, path);
    if (typeof address !== "string") return [];
    return [{ address, tls, ...choice, ...notes.placeOf([...path, "address"]) }];
  });
}

function readChoice(notes: SettingsNotes, item: Readonly<Record<string, unknown>>, path: ValuePath): Choice {
  const given = entryOf(item, "edition");
  const edition = given === undefined ? undefined : readOne(notes, "edition", given, [...path, "edition"]);
  const switches = readSwitches(notes, entryOf(item, "switches"), [...path, "switches"]);
  const known: Edition | undefined = editions.find((one) => one === edition);
  return {
    ...(known === undefined ? {} : { edition: known }),
    ...(switches.length === 0 ? {} : { dialect: overridesOf(switches) }),
  };
}

/** The value of a switch is one for all kinds of resources, or a mapping by kind. */
function readSwitches(
  notes: SettingsNotes,
  switches: unknown,
  path: ValuePath,
  refuse: (one: SwitchText) => Extract<SwitchResult, { message: string }> | undefined = () => undefined,
): readonly SwitchText[] {
  if (switches === undefined || switches === null) return [];
  if (!isMapping(switches)) {
    notes.wrongType(path, "switches with their values", switches);
    return [];
  }
  return Object.entries(switches).flatMap(([name, value]) => {
    const here = [...path, name];
    const each = isMapping(value) ? kindsOf(name, value, here) : [{ name, value, path: here }];
    return each.flatMap(({ name: full, value: one, path: at }) => {
      const read = readSwitch(full, one);
      const trouble = "message" in read ? read : refuse(read);
      if (trouble !== undefined) notes.note(trouble.code, at, trouble.part, trouble.message, trouble.hint);
      return "message" in read || trouble !== undefined ? [] : [read];
    });
  });
}

interface NamedValue {
  readonly name: string;
  readonly value: unknown;
  readonly path: ValuePath;
}

/** Puts the value for all other kinds first; otherwise it would replace those of single kinds. */
function kindsOf(name: string, values: Readonly<Record<string, unknown>>, path: ValuePath): readonly NamedValue[] {
  const each = Object.entries(values).map(([kind, value]) => ({
    name: kind === "otherwise" ? name : `${name}.${kind}`,
    value,
    path: [...path, kind],
  }));
  return each.toSorted((a, b) => Number(b.name === name) - Number(a.name === name));
}

function readTls(notes: SettingsNotes, tls: unknown, path: ValuePath): ListenerSettings["tls"] {
  if (tls === undefined || tls === null) return undefined;
  if (tls === false || tls === "off") return "off";
  if (!isMapping(tls)) {
    notes.wrongType(path, "cert and key, or off", tls);
    return undefined;
  }
  notes.refuseOthers(tls, path, ["cert", "key", "ca", "crl", "require-client-certificate"]);
  const read = (field: string): unknown => {
    const given = entryOf(tls, field);
    return given === undefined ? undefined : readOne(notes, keyOf(field), given, [...path, field]);
  };
  const [cert, key, ca, crl, required] = ["cert", "key", "ca", "crl", "require-client-certificate"].map(read);
  if (typeof cert !== "string" || typeof key !== "string") {
    if (entryOf(tls, "cert") === undefined || entryOf(tls, "key") === undefined)
      notes.note("SETTING_INVALID", path, "key", "expected both a certificate and its key", "give cert and key");
    return undefined;
  }
  const needsCa = typeof crl === "string" || required === true;
  if (needsCa && entryOf(tls, "ca") === undefined)
    notes.note("SETTING_INVALID", path, "key", "client certificates need CAs to be checked against", "give ca");
  return {
    cert,
    key,
    ...(typeof ca === "string" && { ca }),
    ...(typeof crl === "string" && { crl }),
    ...(typeof required === "boolean" && { requireClientCertificate: required }),
  };
}

function keyOf(field: string): SettingKey {
  const keys: readonly SettingKey[] = ["tls.cert", "tls.key", "tls.ca", "tls.crl", "tls.require-client-certificate"];
  return keys.find((key) => key === `tls.${field}`) ?? "tls.cert";
}

/** Reads a value in the format of a setting. */
function readOne(notes: SettingsNotes, key: SettingKey, given: unknown, path: ValuePath): unknown {
  const setting: Setting | undefined = settingTable.find((row) => row.key === key);
  if (setting === undefined) throw new Error(`invariant: there is no setting ${key}`);
  const { value, trouble } = readSettingValue(setting, given);
  if (trouble !== undefined) notes.note(trouble.code, path, "value", trouble.message, trouble.hint);
  return value;
}

function eachOf(
  notes: SettingsNotes,
  list: unknown,
  key: string,
  expected: string,
): readonly { readonly item: Readonly<Record<string, unknown>>; readonly path: ValuePath }[] {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) {
    notes.wrongType([key], "a list", list);
    return [];
  }
  return list.flatMap((item: unknown, index) => {
    if (isMapping(item)) return [{ item, path: [key, index] }];
    notes.wrongType([key, index], expected, item);
    return [];
  });
}
