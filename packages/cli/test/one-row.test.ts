import type { LogEvent } from "@xdskit/server";
import { describeBounds, type SettingKey, settingTable } from "@xdskit/source/settings";
import type { Command } from "commander";
import { describe, expect, test, vi } from "vitest";
import type { CommandContext } from "../src/commands/context.ts";
import { exitCode } from "../src/exit-code.ts";
import { chooseColors } from "../src/output/color.ts";
import { createLog } from "../src/output/log.ts";
import { run } from "../src/run.ts";
import { resolveSettings } from "../src/settings/resolve-settings.ts";
import { flagNameOf, variableOf } from "../src/settings/setting-flag.ts";
import { CapturedIo } from "./captured-io.ts";

/** A setting, a log event and a command that exist in no release, each added by one row. */
vi.mock("../../source/src/settings/setting-table.ts", async (importOriginal) => {
  const { settingTable, ...rest } = await importOriginal<{ readonly settingTable: readonly object[] }>();
  const nap = { key: "limits.max-naps", kind: "count", default: "2", doc: "Maximum naps per day." };
  return { ...rest, settingTable: [...settingTable, nap] };
});

vi.mock("../../server/src/observe/log-table.ts", async (importOriginal) => {
  const { logTable } = await importOriginal<{ readonly logTable: object }>();
  const nap = { level: "warn", message: "nap taken", fields: ["room"], means: "nobody is at work" };
  return { logTable: { ...logTable, "nap-taken": nap } };
});

vi.mock("../src/command-line/commands.ts", async (importOriginal) => {
  const { commands } = await importOriginal<{ readonly commands: readonly object[] }>();
  const addNap = (program: Command, { io, perform }: CommandContext): void => {
    program
      .command("nap")
      .summary("take a nap")
      .action(() =>
        perform(async () => {
          io.stdout.write("zzz\n");
          return exitCode.ok;
        }),
      );
  };
  return { commands: [...commands, addNap] };
});

/** The generators of the reference pages. */
interface Generators {
  describeSettings(table: object, names: object): string;
  describeLogEvents(table: object): string;
}

async function generators(): Promise<Generators> {
  const file = new URL("../../../tools/docs/reference.mjs", import.meta.url).href;
  return (await import(file)) as Generators;
}

describe("a setting is one row of the table", () => {
  const key = "limits.max-naps" as SettingKey;

  test("a flag, a variable, a key of the file and a default follow", () => {
    const nothing = { flags: {}, env: {}, file: { settings: {}, places: {} }, cwd: "/", directory: "/" };
    const read = (sources: Partial<Parameters<typeof resolveSettings>[0]>): number | undefined =>
      resolveSettings({ ...nothing, ...sources }).values.number(key);
    const file = { settings: { [key]: 3 }, places: {} };
    expect([read({ flags: { maxNaps: "5" } }), read({ env: { XDS_MAX_NAPS: "4" } }), read({ file }), read({})]).toEqual(
      [5, 4, 3, 2],
    );
  });

  test("the help and the reference page describe it", async () => {
    const io = new CapturedIo({ cwd: "/" });
    expect(await run(["serve", "--help"], io)).toBe(exitCode.ok);
    expect(io.stdout.text.replaceAll(/\s+/g, " ")).toContain(
      "--max-naps <n> Maximum naps per day (default 2) [XDS_MAX_NAPS]",
    );
    const { describeSettings } = await generators();
    expect(describeSettings(settingTable, { flagNameOf, variableOf, describeBounds })).toContain(
      "\n| `limits.max-naps` | `--max-naps` | `XDS_MAX_NAPS` | whole number | `2` | Maximum naps per day. |",
    );
  });
});

describe("a log event is one row of the table", () => {
  const event = "nap-taken" as LogEvent;

  test("its line has the level and the message of the row", () => {
    const { stdout: output } = new CapturedIo({ cwd: "/" });
    const colors = chooseColors(output, {}, "never");
    createLog({ level: "info", format: "json", output, colors }).write(event, { room: "attic" });
    const { time: _, ...line } = JSON.parse(output.text) as Readonly<Record<string, unknown>>;
    expect(line).toEqual({ level: "warn", event, room: "attic", message: "nap taken" });
  });

  test("the reference page describes it", async () => {
    const { logTable } = await import("@xdskit/server");
    const { describeLogEvents } = await generators();
    expect(describeLogEvents(logTable)).toContain("\n| `nap-taken` | warn | nap taken | `room` | nobody is at work |");
  });
});

describe("a command is one row of the list", () => {
  test("it runs", async () => {
    const io = new CapturedIo({ cwd: "/" });
    expect([await run(["nap"], io), io.stdout.text]).toEqual([exitCode.ok, "zzz\n"]);
  });

  test.each([
    ["the help", ["--help"], /^ {2}nap +take a nap$/m],
    ["completion", ["completion", "bash"], /\bnap\b/],
  ])("%s lists it", async (_, argv, expected) => {
    const io = new CapturedIo({ cwd: "/" });
    await run(argv, io);
    expect(io.stdout.text).toMatch(expected);
  });
});
