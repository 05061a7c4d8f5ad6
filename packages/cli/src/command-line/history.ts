import { Option } from "commander";
import type { HistoryFlags } from "../commands/history.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds history`: what was published and decided. */
export const addHistoryCommand: AddCommand = (program, context) => {
  const command = program
    .command("history")
    .summary("show what was published, when and by whom")
    .description(
      "Show the newest revisions of a server, and the decisions on them, newest first; with --node, those that a node had, and since when.",
    );
  addAdminFlag(command)
    .option("-l, --limit <count>", "number of rows, at most 1000 without --node", "20")
    .option("--before <number>", "only revisions before this number")
    .option("-n, --node <id>", "what this node had, also if it is not connected")
    .option("--at <time>", "with --node: only what it had then (ISO 8601)")
    .addOption(new Option("-o, --output <format>", "output format").choices(["table", "json"]).default("table"))
    .action((flags: HistoryFlags) =>
      context.perform(async () => (await import("../commands/history.ts")).history(flags, context)),
    );
  command.addHelpText(
    "after",
    "\nKinds: revision, a change in force; live, a change of endpoints or secrets only, which is never held or rolled back; held, by a fuse; approved, rejected, withdrawn, rolled-back, unpinned, decisions; emptied, endpoints that are held back no longer.",
  );
  addExamples(command, [
    ["xds history", "the newest, a line each"],
    ["xds history --before 120 --limit 100", "what came before"],
    ["xds history --node edge-1 --at 2026-11-24T02:30:00Z", "what a node had at night, and by whose change"],
    ["xds history -o json", "the same as JSON, for scripts"],
  ]);
};
