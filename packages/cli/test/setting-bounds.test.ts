import { describeProblems } from "@xdskit/protocol/internal";
import { settingTable } from "@xdskit/source";
import { expect, test } from "vitest";
import { serverOptions } from "../../server/src/option-rules.ts";
import { findConflicts } from "../src/settings/conflicts.ts";
import { fuseSettingsOf } from "../src/settings/fuse-settings.ts";
import { retentionOf } from "../src/settings/history-settings.ts";
import { resolveSettings } from "../src/settings/resolve-settings.ts";
import { serverOptionsOf } from "../src/settings/server-options.ts";
import { variableOf } from "../src/settings/setting-flag.ts";

/** Files without which other settings are conflicts. */
const files = Object.fromEntries(
  (["tls.cert", "tls.key", "tls.ca", "admin-tls.cert", "admin-tls.key", "admin-tls.ca"] as const).map((key) => [
    variableOf(key),
    "/a.pem",
  ]),
);

const extremes: readonly string[] = [
  ...["0", "1", "256", "257", String(Number.MAX_SAFE_INTEGER), String(2 ** 53), "9".repeat(400)],
  ...["0s", "0.4ms", "1ms", "999ms", "1s", "2147483647ms", "2147483648ms", "600h", `${"9".repeat(400)}h`],
  ...["0KiB", "1GiB", "9007199254740991GiB", "0%", "100000%", `${"9".repeat(400)}%`],
  ...["off", "auto", "true", "false", ":0", ":65535", ":65536", "a/b:80", "[::1]:1", "foo", "dns:a", "dns:", "cn:*"],
];

/** What the server options refuse of a value that the table takes. */
async function refused(variable: string, value: string): Promise<readonly string[]> {
  const file = { settings: {}, places: {} };
  const env = { ...files, [variable]: value };
  const { values, troubles } = resolveSettings({ flags: {}, env, file, cwd: "/cwd", directory: "/dir" });
  const conflicts = await findConflicts(values, undefined);
  if (troubles.length > 0 || conflicts.troubles.length > 0) return [];
  const ledger = { fuses: fuseSettingsOf(values), retention: retentionOf(values) };
  const problems = serverOptions({ ...serverOptionsOf(values, [], "/dir"), ledger });
  return problems.length === 0 ? [] : [describeProblems(`${variable}=${value}`, problems)];
}

test("the table takes no value that the options of a server refuse", async () => {
  const keys = settingTable.map(({ key }) => key);
  const all = keys.flatMap((key) => extremes.map((value) => refused(variableOf(key), value)));
  expect((await Promise.all(all)).flat()).toEqual([]);
});
