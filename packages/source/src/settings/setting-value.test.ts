import { expect, test } from "vitest";
import { type Bounds, type Setting, type SettingKind, settingTable } from "./setting-table.ts";
import { readSettingValue } from "./setting-value.ts";

function setting(kind: SettingKind): Setting {
  return { key: "listen", kind, default: undefined, doc: "", words: ["text", "json"] };
}

test.each<[SettingKind, unknown, unknown]>([
  ["boolean", true, true],
  ["boolean", "false", false],
  ["duration", "500ms", 500],
  ["duration", "1.5s", 1500],
  ["duration", "2m", 120_000],
  ["duration", "1h", 3_600_000],
  ["duration", 0, 0],
  ["count", 7, 7],
  ["count", "7", 7],
  ["count-or-auto", "2", 2],
  ["count-or-auto", 256, 256],
  ["duration", "2147483647ms", 2_147_483_647],
  ["count-or-auto", "auto", "auto"],
  ["share-or-off", "50%", 0.5],
  ["share-or-off", "2.5 %", 0.025],
  ["share-or-off", "150%", 1.5],
  ["share-or-off", false, "off"],
  ["bytes", 1024, 1024],
  ["bytes", "64MiB", 67_108_864],
  ["bytes", "2 GiB", 2_147_483_648],
  ["address", "127.0.0.1:18000", "127.0.0.1:18000"],
  ["address", "[::1]:0", "[::1]:0"],
  ["address", ":18000", ":18000"],
  ["address", 18000, "127.0.0.1:18000"],
  ["address", "18000", "127.0.0.1:18000"],
  ["address-or-off", ":1", ":1"],
  ["address-or-off", false, "off"],
  ["path", "a.pem", "a.pem"],
  ["paths", "a", ["a"]],
  ["paths", ["a", "b"], ["a", "b"]],
  ["texts", "a", ["a"]],
  ["texts", ["a", "*"], ["a", "*"]],
  ["word", "json", "json"],
])("%s %j is %j", (kind, given, expected) => {
  expect(readSettingValue(setting(kind), given)).toEqual({ value: expected, trouble: undefined });
});

test.each<[SettingKind, unknown, string]>([
  ["boolean", "yes", "SETTING_WRONG_TYPE"],
  ["duration", 10, "SETTING_DURATION"],
  ["duration", "10", "SETTING_DURATION"],
  ["duration", "-1s", "SETTING_DURATION"],
  ["count", -1, "SETTING_INVALID"],
  ["count", 1.5, "SETTING_INVALID"],
  ["count", "x", "SETTING_WRONG_TYPE"],
  ["count", 1e300, "SETTING_INVALID"],
  ["duration", "600h", "SETTING_INVALID"],
  ["count-or-auto", "all", "SETTING_WRONG_TYPE"],
  ["share-or-off", 0.5, "SETTING_INVALID"],
  ["share-or-off", "-5%", "SETTING_INVALID"],
  ["bytes", "64MB", "SETTING_INVALID"],
  ["bytes", "9007199254740991KiB", "SETTING_INVALID"],
  ["bytes", "9".repeat(400), "SETTING_INVALID"],
  ["address", "off", "SETTING_INVALID"],
  ["address", "a/b:80", "SETTING_INVALID"],
  ["certificate-names", ["dns:a", "foo"], "SETTING_INVALID"],
  ["certificate-names", "dns:", "SETTING_INVALID"],
  ["address", "localhost", "SETTING_INVALID"],
  ["address", "a:70000", "SETTING_INVALID"],
  ["address", "::1:80", "SETTING_INVALID"],
  ["path", "", "SETTING_WRONG_TYPE"],
  ["paths", [1], "SETTING_WRONG_TYPE"],
  ["texts", ["a", ""], "SETTING_WRONG_TYPE"],
  ["word", "jsno", "SETTING_INVALID"],
  ["text", null, "SETTING_WRONG_TYPE"],
])("%s %j is refused", (kind, given, code) => {
  expect(readSettingValue(setting(kind), given).trouble?.code).toBe(code);
});

test.each<[SettingKind, Partial<Bounds>, unknown, string]>([
  ["count", { min: 1 }, 0, "expected a whole number from 1, got 0"],
  ["count-or-auto", { min: 1, max: 256 }, "257", 'expected a whole number from 1 to 256, or auto, got "257"'],
  ["duration-or-off", { min: 1000 }, "10ms", 'expected a duration from 1s, or off, got "10ms"'],
  ["duration", {}, "600h", 'expected a duration from 0 to 2147483647ms, got "600h"'],
  ["bytes", { min: 1024 }, "1", 'expected a size from 1KiB, got "1"'],
])("%s within %j: %j is refused", (kind, bounds, given, message) => {
  expect(readSettingValue({ ...setting(kind), bounds }, given).trouble?.message).toBe(message);
});

test("every default is a value that the setting takes", () => {
  const wrong = settingTable.filter(
    (row) => row.default !== undefined && readSettingValue(row, row.default).trouble !== undefined,
  );
  expect(wrong).toEqual([]);
});
