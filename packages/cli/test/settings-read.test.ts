import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SettingKey, settingTable } from "@xdskit/source/settings";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { run } from "../src/run.ts";
import { SettingValues } from "../src/settings/resolve-settings.ts";
import { variableOf } from "../src/settings/setting-flag.ts";
import { CapturedIo } from "./captured-io.ts";
import { Site, until } from "./serving.ts";

let folder: string;
let site: Site;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "xds-settings-"));
  site = await Site.make({ "mesh.mjs": "export default [];\n" });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await site.remove();
  await rm(folder, { recursive: true, force: true });
});

/** The keys whose values are asked for from now on. */
function readKeys(): ReadonlySet<SettingKey> {
  const keys = new Set<SettingKey>();
  recordReads("text", keys);
  recordReads("number", keys);
  recordReads("flag", keys);
  recordReads("list", keys);
  return keys;
}

function recordReads(method: "text" | "number" | "flag" | "list", keys: Set<SettingKey>): void {
  const original: (key: SettingKey) => unknown = SettingValues.prototype[method];
  vi.spyOn(SettingValues.prototype, method).mockImplementation(function (this: SettingValues, key) {
    keys.add(key);
    return original.call(this, key) as never;
  });
}

/** Every setting with a default, set to it; and those without which others are not read. */
function everySetting(): Readonly<Record<string, string>> {
  const values: Partial<Record<SettingKey, string>> = {
    ...{ listen: "127.0.0.1:0", admin: "127.0.0.1:0", "allow-empty": "true" },
    ...{ store: `file:${join(folder, "store")}`, "state-dir": join(folder, "state") },
    ...{ "export.directory": join(folder, "export"), "export.node": "n", "log.format": "json" },
  };
  const given = settingTable.map((row) => [variableOf(row.key), values[row.key] ?? row.default] as const);
  return Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

// A setting that only its row knows has a flag, a variable and documentation, and no effect.
test("xds serve reads every setting of the table", async () => {
  const read = readKeys();
  const io = new CapturedIo({ cwd: folder, env: everySetting() });
  const ended = run(["serve", join(site.directory, "mesh.mjs")], io);
  await until("it is ready", () => io.stderr.text.includes('"event":"ready"'));
  io.interrupt("SIGTERM");
  expect(await ended).toBe(0);
  const unread = settingTable.map(({ key }) => key).filter((key) => !read.has(key));
  expect(unread, "settings that nothing reads; see packages/cli/src/settings").toEqual([]);
});
