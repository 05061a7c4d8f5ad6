import { Option } from "commander";
import type { WaitFlags } from "../commands/wait.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";
import { readDuration } from "./duration-flag.ts";

/** `xds wait`: a gate for scripts. */
export const addWaitCommand: AddCommand = (program, context) => {
  const command = program
    .command("wait")
    .summary("wait until every client has a change")
    .description("Wait until every connected node has ACKed what the source has now, or a revision.");
  addAdminFlag(command)
    .addOption(new Option("--source", "wait for what the source has now (default)").conflicts("revision"))
    .option("--revision <number>", "wait for a revision: a number, or head for the newest in force")
    .option("-n, --nodes <glob>", "only nodes that match: 'edge-*'")
    .option("--min-nodes <count>", "minimum number of nodes that must have it", "1")
    .option("--timeout <duration>", "how long to wait", "60s")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action(({ timeout, ...flags }: Omit<WaitFlags, "timeoutMs"> & { readonly timeout: string }) =>
      context.perform(async () => {
        const timeoutMs = readDuration("--timeout", timeout);
        return (await import("../commands/wait.ts")).wait({ ...flags, timeoutMs }, context);
      }),
    );
  addExamples(command, [
    ["xds wait", "after a change to the files: exits with 0 when everybody has it"],
    ["xds wait --nodes 'edge-*' --min-nodes 3 --timeout 5m", "a part of the fleet, and at least three nodes of it"],
    ["xds wait --revision head -o json", "what the server has now, and who does not have it, as JSON"],
  ]);
};
