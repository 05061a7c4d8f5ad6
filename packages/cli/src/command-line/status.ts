import { Option } from "commander";
import type { StatusFlags } from "../commands/status.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds status`: one screen. */
export const addStatusCommand: AddCommand = (program, context) => {
  const command = program
    .command("status")
    .summary("show the server, its source and clients that lag behind")
    .description("Show the server, its source, and which nodes do not have the newest revision, and why.");
  addAdminFlag(command)
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action((flags: StatusFlags) =>
      context.perform(async () => (await import("../commands/status.ts")).status(flags, context)),
    );
  addExamples(command, [["xds status", "one screen: source, revision, and who is behind"]]);
};
