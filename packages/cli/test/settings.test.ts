import { readFileSync } from "node:fs";
import { defaultFuses } from "@xdskit/protocol/internal";
import { type SettingKey, settingTable } from "@xdskit/source";
import { expect, test } from "vitest";
import { fuseSettingsOf } from "../src/settings/fuse-settings.ts";
import { retentionOf } from "../src/settings/history-settings.ts";
import { resolveSettings } from "../src/settings/resolve-settings.ts";
import { serverOptionsOf } from "../src/settings/server-options.ts";
import { flagNameOf, variableOf } from "../src/settings/setting-flag.ts";
import { VERSION } from "../src/version.ts";

const nothing = { flags: {}, env: {}, file: { settings: {}, places: {} }, cwd: "/cwd", directory: "/dir" };

test("a flag goes before a variable, that before the file, and that before the default", () => {
  const file = { settings: { "limits.max-streams": 3 }, places: {} };
  const env = { XDS_MAX_STREAMS: "2" };
  const flags = { maxStreams: "1" };
  const read = (sources: Partial<Parameters<typeof resolveSettings>[0]>): number | undefined =>
    resolveSettings({ ...nothing, ...sources }).values.number("limits.max-streams");
  expect([read({ file, env, flags }), read({ file, env }), read({ file }), read({})]).toEqual([1, 2, 3, 50_000]);
});

test("paths of flags and variables start where the caller is, those of the file at the file", () => {
  const key: SettingKey = "tls.cert";
  const read = (sources: Partial<Parameters<typeof resolveSettings>[0]>): string | undefined =>
    resolveSettings({ ...nothing, ...sources }).values.text(key);
  expect(read({ flags: { tlsCert: "a.pem" } })).toBe("/cwd/a.pem");
  expect(read({ env: { XDS_TLS_CERT: "/etc/a.pem" } })).toBe("/etc/a.pem");
  expect(read({ file: { settings: { "tls.cert": "a.pem" }, places: {} } })).toBe("/dir/a.pem");
  const { values } = resolveSettings({ ...nothing, env: { XDS_DESCRIPTORS: "a,b:c" } });
  expect(values.list("descriptors")).toEqual(["/cwd/a", "/cwd/b", "/cwd/c"]);
});

test("the admin API answers to the names that are given", () => {
  const { values } = resolveSettings({ ...nothing, env: { XDS_ADMIN_NAMES: "xds.example,xds" } });
  expect(serverOptionsOf(values, [], "/dir").admin).toEqual({
    host: "127.0.0.1",
    port: 18001,
    names: ["xds.example", "xds"],
  });
});

test("each switch is settled by itself: a flag goes before a variable, and that before the file", () => {
  const { values, troubles } = resolveSettings({
    ...nothing,
    flags: { switch: ["nackByVersion=false", "deltaMissing.rds=none"], makeBeforeBreak: false },
    env: { XDS_SWITCHES: "ignoreHints=true,nackByVersion=true", XDS_ORDER_LIMIT: "5s" },
    file: {
      settings: { switches: ["ignoreHints=false", "staleNonce=honour-names", "makeBeforeBreak.vhds=true"] },
      places: {},
    },
  });
  expect(troubles).toEqual([]);
  expect(serverOptionsOf(values, [], "/dir").dialect).toEqual({
    ignoreHints: true,
    staleNonce: "honour-names",
    nackByVersion: false,
    deltaMissing: { rds: "none" },
    makeBeforeBreak: { otherwise: false, vhds: true },
    orderLimitMs: 5_000,
  });
});

test("what nobody set is left to the edition", () => {
  const { values } = resolveSettings(nothing);
  const { dialect, requireNode, edition } = serverOptionsOf(values, [], "/dir");
  expect({ dialect, requireNode, edition }).toEqual({ dialect: {}, requireNode: undefined, edition: undefined });
});

test("a switch that is wrong is told with where it was given", () => {
  const { troubles } = resolveSettings({
    ...nothing,
    flags: { switch: ["orderLimit=5s"] },
    env: { XDS_SWITCHES: "nackByVersions=true" },
  });
  expect(troubles).toEqual([
    'XDS_SWITCHES: "nackByVersions=true": expected a switch, got "nackByVersions" (did you mean "nackByVersion"?)',
    '--switch: "orderLimit=5s": orderLimit has a setting of its own for the whole server (write order-limit: 5s)',
  ]);
});

test("files of a listener start at xdskit.yaml", () => {
  const { values } = resolveSettings(nothing);
  const place = { line: 1, column: 1 };
  const listeners = [
    { address: ":18002", edition: "2018", tls: { cert: "a.pem", key: "/etc/b.pem" }, ...place },
    { address: "[::1]:18003", tls: "off", ...place },
  ] as const;
  expect(serverOptionsOf(values, listeners as never, "/dir").listen).toEqual([
    { host: "127.0.0.1", port: 18000 },
    { host: "0.0.0.0", port: 18002, edition: "2018", tls: { cert: "/dir/a.pem", key: "/etc/b.pem" } },
    { host: "::1", port: 18003, tls: false },
  ]);
});

test("every mistake is told at once, with the name it was given under", () => {
  const { troubles } = resolveSettings({
    ...nothing,
    flags: { edition: "1999" },
    env: { XDS_KEEPALIVE: "soon", XDS_INSECURE: "perhaps" },
  });
  expect(troubles.map((trouble) => trouble.split(":")[0])).toEqual(["XDS_INSECURE", "--edition", "XDS_KEEPALIVE"]);
});

test("who gave a setting is known: a flag, a variable, a place in the file, nobody", () => {
  const { values } = resolveSettings({
    ...nothing,
    flags: { tlsCert: "a.pem" },
    env: { XDS_TLS_KEY: "a.key" },
    file: { settings: { "tls.ca": "ca.pem" }, places: { "tls.ca": { line: 3, column: 7 } } },
  });
  const keys: readonly SettingKey[] = ["tls.cert", "tls.key", "tls.ca", "listen"];
  expect(keys.map((key) => values.originOf(key))).toEqual([
    "--tls-cert",
    "XDS_TLS_KEY",
    "xdskit.yaml:3:7: tls.ca",
    undefined,
  ]);
});

test("the fuses have the defaults of the table, each can be set, and off", () => {
  const read = (env: Readonly<Record<string, string>>): unknown =>
    fuseSettingsOf(resolveSettings({ ...nothing, env }).values);
  expect(read({})).toEqual(defaultFuses);
  expect(
    read({
      XDS_FUSES_RESOURCES_REMOVED: "25%",
      XDS_FUSES_RESOURCES_REMOVED_FLOOR: "3",
      XDS_FUSES_LAST_LISTENER: "false",
      XDS_FUSES_NODES_MOVED: "off",
      XDS_FUSES_NODES_MOVED_FLOOR: "0",
      XDS_FUSES_NODES_CUT_OFF: "10%",
      XDS_FUSES_SIZE_GROWN: "200%",
      XDS_FUSES_SIZE_SHRUNK: "off",
      XDS_FUSES_SIZE_FLOOR: "1MiB",
      XDS_FUSES_ENDPOINTS_EMPTIED: "90s",
    }),
  ).toEqual({
    resourcesRemoved: 0.25,
    resourcesRemovedFloor: 3,
    endpointsEmptiedMs: 90_000,
    lastListener: false,
    nodesMoved: "off",
    nodesMovedFloor: 0,
    nodesCutOff: 0.1,
    sizeGrown: 2,
    sizeShrunk: "off",
    sizeFloor: 1024 * 1024,
  });
});

test("the history has the retention of the table, unless it is set", () => {
  const read = (env: Readonly<Record<string, string>>): unknown =>
    retentionOf(resolveSettings({ ...nothing, env }).values);
  expect(read({ XDS_HISTORY_REVISIONS: "50", XDS_HISTORY_DAYS: "7" })).toEqual({ revisions: 50, days: 7 });
  expect({ revisions: 1_000, days: 30, ...(read({}) as object) }).toEqual({ revisions: 1_000, days: 30 });
});

test("every setting has a flag and a variable of its own", () => {
  const keys = settingTable.map(({ key }) => key);
  expect(new Set(keys.map(flagNameOf)).size).toBe(keys.length);
  expect(new Set(keys.map(variableOf)).size).toBe(keys.length);
  expect(variableOf("limits.max-streams")).toBe("XDS_MAX_STREAMS");
});

test("the version is that of the package", () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(VERSION).toBe(version);
});
