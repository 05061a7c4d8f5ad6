import { Option } from "commander";
import type { ShowFlags } from "../commands/show.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds show NUMBER`, `xds show FROM..TO`: what changed. */
export const addShowCommand: AddCommand = (program, context) => {
  const command = program
    .command("show")
    .summary("show what a revision changed")
    .description("Show which resources a revision or a decision changed, or the differences between two revisions.")
    .argument("<revision>", "a number of xds history, head for the newest, or two numbers: 12..15");
  addAdminFlag(command)
    .option("-l, --limit <count>", "number of changes", "100")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action((revision: string, flags: ShowFlags) =>
      context.perform(async () => (await import("../commands/show.ts")).show(revision, flags, context)),
    );
  addExamples(command, [
    ["xds show head", "the newest: who, when, why, and every resource by layer and type"],
    ["xds show 12..15", "what is different at 15 from what was at 12"],
    ["xds show 15..12", "what going back to 12 would change"],
  ]);
};
