import { Option } from "commander";
import type { TopFlags } from "../commands/top.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";
import { readDuration } from "./duration-flag.ts";

/** `xds top`: a live screen. */
export const addTopCommand: AddCommand = (program, context) => {
  const command = program
    .command("top")
    .summary("watch the server and its clients on one screen")
    .description(
      "Show the server, its source, the progress of the newest revision and the nodes that lack it on a live screen; q quits. In a pipe, print once.",
    );
  addAdminFlag(command)
    .addOption(
      new Option("--interval <duration>", "time between updates")
        .argParser((text: string) => readDuration("--interval", text))
        .default(1000, "1s"),
    )
    .addOption(
      new Option("-o, --output <format>", "output format; json: once").choices(["text", "json"]).default("text"),
    )
    .action((flags: Omit<TopFlags, "intervalMs"> & { readonly interval: number }) =>
      context.performUntilInterrupted(async () =>
        (await import("../commands/top.ts")).top({ ...flags, intervalMs: flags.interval }, context),
      ),
    );
  addExamples(command, [
    ["xds top", "the server on this machine"],
    ["xds top --admin edge-1.example:18001 --interval 5s", "another server, less often"],
  ]);
};
