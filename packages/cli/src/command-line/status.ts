import { Option } from "commander";
import type { StatusFlags } from "../commands/status.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds status`: one screen. */
export const addStatusCommand: AddCommand = (program, context) => {
  const command = program
    .command("status")
    .summary("show the server, its source and clients that lag behind")
    .description(
      "Show the server, its source, which nodes do not have the newest revision, and why; with a shared store, how far each " +
        "server is that follows it.",
    );
  addAdminFlag(command)
    .option("--store <url>", "ask a store instead of a server: which servers follow it, and how far each is")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action((flags: StatusFlags) =>
      context.perform(async () => (await import("../commands/status.ts")).status(flags, context)),
    );
  addExamples(command, [
    ["xds status", "one screen: source, revision, and who is behind"],
    ["xds status --store etcd://a:2379,b:2379/mesh", "every server that follows a store"],
  ]);
};
