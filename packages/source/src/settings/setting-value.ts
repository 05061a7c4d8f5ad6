import { nearestName, quote } from "@xdskit/protocol/problem";
import { describeKind } from "../document/places.ts";
import type { SourceProblemCode } from "../problem.ts";
import { BYTES_OF_UNIT, boundsOf, formatNumber, MS_OF_UNIT } from "./setting-bounds.ts";
import type { Setting, SettingValue } from "./setting-table.ts";

/** A value, or what is wrong with it. */
export type ValueResult =
  | { readonly value: SettingValue; readonly trouble: undefined }
  | { readonly value: undefined; readonly trouble: ValueTrouble };

/** A mistake in the value of a setting. */
export interface ValueTrouble {
  readonly code: Extract<SourceProblemCode, "SETTING_DURATION" | "SETTING_INVALID" | "SETTING_WRONG_TYPE">;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Reads the value of a setting from a file, a flag or an environment variable; strings are parsed by the kind of the
 * setting, because the latter two give only strings. Numbers outside the bounds of the setting are mistakes.
 */
export function readSettingValue(setting: Pick<Setting, "bounds" | "kind" | "words">, given: unknown): ValueResult {
  return withinBounds(setting, readKind(setting, given), given);
}

function readKind(setting: Pick<Setting, "kind" | "words">, given: unknown): ValueResult {
  switch (setting.kind) {
    case "boolean":
      return readBoolean(given);
    case "duration":
      return readDuration(given);
    case "duration-or-off":
      return given === false || given === "off" ? good("off") : readDuration(given);
    case "count":
      return readCount(given);
    case "count-or-auto":
      return given === "auto" ? good(given) : readCount(given);
    case "share-or-off":
      return given === false || given === "off" ? good("off") : readShare(given);
    case "bytes":
      return readBytes(given);
    case "address":
      return readAddress(given);
    case "address-or-off":
      return given === false || given === "off" ? good("off") : readAddress(given);
    case "paths":
      return readList(given, "a path, or a list of paths");
    case "texts":
      return readList(given, "a text, or a list of texts");
    case "certificate-names":
      return readCertificateNames(given);
    case "switches":
      return readList(given, "NAME=VALUE, or a list of them");
    case "word":
      return readWord(given, setting.words ?? []);
    case "path-or-off":
      if (given === false) return good("off");
      return typeof given === "string" && given !== "" ? good(given) : wrongType("a path, or off", given);
    case "path":
    case "text":
      return typeof given === "string" && given !== "" ? good(given) : wrongType("a text", given);
  }
}

function withinBounds(setting: Pick<Setting, "bounds" | "kind">, read: ValueResult, given: unknown): ValueResult {
  // Shares have no bounds: one above any is as good as off.
  if (typeof read.value !== "number" || setting.kind === "share-or-off") return read;
  const { min, max } = boundsOf(setting);
  if (read.value >= min && read.value <= max) return read;
  const format = (value: number): string => formatNumber(setting.kind, value);
  const isMaxShown = setting.bounds?.max !== undefined || read.value > max;
  const range = `from ${format(min)}${isMaxShown ? ` to ${format(max)}` : ""}${orElse(setting)}`;
  return bad("SETTING_INVALID", `expected ${nounOf(setting)} ${range}, got ${show(given)}`);
}

function nounOf({ kind }: Pick<Setting, "kind">): string {
  if (kind === "bytes") return "a size";
  return kind === "duration" || kind === "duration-or-off" ? "a duration" : "a whole number";
}

/** The word that a kind takes in place of a number. */
function orElse({ kind }: Pick<Setting, "kind">): string {
  if (kind === "count-or-auto") return ", or auto";
  return kind === "duration-or-off" ? ", or off" : "";
}

function readBoolean(given: unknown): ValueResult {
  if (typeof given === "boolean") return good(given);
  if (given === "true" || given === "false") return good(given === "true");
  return wrongType("true or false", given);
}

function readDuration(given: unknown): ValueResult {
  const hint = "write a number and its unit, such as 500ms, 1.5s, 2m or 1h";
  if (given === 0 || given === "0") return good(0);
  if (typeof given !== "string") return bad("SETTING_DURATION", `expected a duration, got ${show(given)}`, hint);
  const [, number, unit] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)$/.exec(given) ?? [];
  const msOfUnit = MS_OF_UNIT[unit ?? ""];
  if (number === undefined || msOfUnit === undefined) {
    return bad("SETTING_DURATION", `expected a duration, got ${show(given)}`, hint);
  }
  return good(Math.round(Number(number) * msOfUnit));
}

function readCount(given: unknown): ValueResult {
  const number = typeof given === "string" && /^[0-9]+$/.test(given) ? Number(given) : given;
  if (typeof number !== "number") return wrongType("a whole number", given);
  if (Number.isInteger(number)) return good(number);
  return bad("SETTING_INVALID", `expected a whole number, got ${show(given)}`);
}

function readShare(given: unknown): ValueResult {
  const [, number] = /^([0-9]+(?:\.[0-9]+)?) ?%$/.exec(typeof given === "string" ? given : "") ?? [];
  if (number !== undefined) return good(Number(number) / 100);
  return bad("SETTING_INVALID", `expected a share, got ${show(given)}`, "write a percentage, such as 50%, or off");
}

function readBytes(given: unknown): ValueResult {
  if (typeof given === "number") return readCount(given);
  const [, number, unit] = /^([0-9]+) ?(KiB|MiB|GiB|)$/.exec(typeof given === "string" ? given : "") ?? [];
  const bytesOfUnit = unit === undefined ? undefined : BYTES_OF_UNIT[unit];
  if (number !== undefined && bytesOfUnit !== undefined) return good(Number(number) * bytesOfUnit);
  return bad("SETTING_INVALID", `expected a size, got ${show(given)}`, "write bytes, or a number with KiB, MiB or GiB");
}

function readAddress(given: unknown): ValueResult {
  // A port alone means this machine, as every default does; `:18000` means all addresses.
  const text = /^[0-9]{1,5}$/.test(String(given)) ? `127.0.0.1:${given}` : given;
  const [, port] = /^(?:\[[0-9A-Fa-f:.]+\]|[^\s:[\]/]*):([0-9]{1,5})$/.exec(typeof text === "string" ? text : "") ?? [];
  if (port !== undefined && Number(port) <= 65_535) return good(String(text));
  return bad(
    "SETTING_INVALID",
    `expected host:port, got ${show(given)}`,
    "such as 127.0.0.1:18000, [::1]:18000 or :18000",
  );
}

function readList(given: unknown, expected: string): ValueResult {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const texts = list.filter((text): text is string => typeof text === "string" && text !== "");
  return texts.length === list.length ? good(texts) : wrongType(expected, given);
}

function readCertificateNames(given: unknown): ValueResult {
  const read = readList(given, "the name of a certificate, or a list of them");
  const wrong = typeof read.value === "object" ? read.value.find((name) => !isCertificateName(name)) : undefined;
  if (wrong === undefined) return read;
  return bad("SETTING_INVALID", `expected uri:, dns:, ip:, email: or cn: and a glob, got ${quote(wrong)}`);
}

function isCertificateName(text: string): boolean {
  return /^(?:uri|dns|ip|email|cn):./s.test(text);
}

function readWord(given: unknown, words: readonly string[]): ValueResult {
  const text = typeof given === "number" || typeof given === "boolean" ? String(given) : given;
  const found = words.find((word) => word === text);
  if (found !== undefined) return good(found);
  const meant = typeof text === "string" ? nearestName(text, words) : undefined;
  const hint = meant === undefined ? undefined : `did you mean ${quote(meant)}?`;
  return bad("SETTING_INVALID", `expected one of ${words.join(", ")}, got ${show(given)}`, hint);
}

function good(value: SettingValue): ValueResult {
  return { value, trouble: undefined };
}

function wrongType(expected: string, given: unknown): ValueResult {
  return bad("SETTING_WRONG_TYPE", `expected ${expected}, got ${show(given)}`);
}

function bad(code: ValueTrouble["code"], message: string, hint?: string): ValueResult {
  return { value: undefined, trouble: hint === undefined ? { code, message } : { code, message, hint } };
}

function show(given: unknown): string {
  if (typeof given === "string") return quote(given);
  return typeof given === "number" || typeof given === "boolean" ? String(given) : describeKind(given);
}
