import { Option } from "commander";
import type { LoadsFlags } from "../commands/loads.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds loads`: client load reports (LRS). */
export const addLoadsCommand: AddCommand = (program, context) => {
  const command = program
    .command("loads")
    .summary("show client load reports (LRS)")
    .description("Show client load reports (LRS): requests by cluster and locality since the server started.");
  addAdminFlag(command)
    .option("-c, --cluster <name>", "only this cluster")
    .addOption(new Option("-o, --output <format>", "output format").choices(["table", "json"]).default("table"))
    .action((flags: LoadsFlags) =>
      context.perform(async () => (await import("../commands/loads.ts")).loads(flags, context)),
    );
  addExamples(command, [
    ["xds loads", "a line for each cluster and locality"],
    ["xds loads --cluster web --output json", "one cluster, with its drops and metrics"],
  ]);
};
