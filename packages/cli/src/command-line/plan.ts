import { Option } from "commander";
import type { PlanFlags } from "../commands/plan.ts";
import { addSettingFlags, SOURCE_SETTINGS } from "../settings/setting-flag.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds plan DIR`: what publishing a directory would do. */
export const addPlanCommand: AddCommand = (program, context) => {
  const command = program
    .command("plan")
    .summary("show what publishing a directory would change")
    .description(
      "Show what a running server would do with a directory now: which resources would change, for which connected nodes, and which fuses would hold it. Applies nothing. Exits with 0 if it would be in force, 6 if a fuse would hold it, 3 if the directory has errors, 1 if the server would refuse it.",
    )
    .argument("<dir>", "directory to read, or a module such as mesh.ts");
  addAdminFlag(command)
    .option("--fields", "show the fields that differ")
    .option("-l, --limit <count>", "how many changes, at most 1000", "100")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action((directory: string, flags: PlanFlags) =>
      context.perform(async () => (await import("../commands/plan.ts")).plan(directory, flags, context)),
    );
  addSettingFlags(command, SOURCE_SETTINGS);
  addExamples(command, [
    ["xds plan config", "before a merge: what it would change, and whether a fuse would hold it"],
    ["xds plan config --fields", "the same by field"],
    ["xds plan config -o json", "the same as JSON, for scripts"],
  ]);
};
