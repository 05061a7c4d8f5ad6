import { Option } from "commander";
import type { WatchFlags } from "../commands/watch.ts";
import { addConnectionFlags } from "../discovery/connection-flags.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { readDuration } from "./duration-flag.ts";
import { addTypeArguments } from "./type-arguments.ts";

/** `xds watch TYPE [NAME…]`: prints resources and every change until interrupted. */
export const addWatchCommand: AddCommand = (program, context) => {
  const command = program
    .command("watch")
    .summary("watch resources of any xDS server")
    .description(
      "Watch resources of any xDS server or file: print the current state, then every change. Reconnects automatically.",
    );
  addTypeArguments(command);
  addConnectionFlags(command)
    .addOption(
      new Option("-o, --output <format>", "YAML documents, or one line of JSON per change")
        .choices(["yaml", "json"])
        .default("yaml"),
    )
    .addOption(
      new Option("--refresh-delay <duration>", "with --rest: delay between polls")
        .argParser((text: string) => readDuration("--refresh-delay", text))
        .default(1000, "1s"),
    )
    .option("--show-secrets", "print private keys and passwords too")
    .action((type: string, names: readonly string[], flags: WatchFlags) =>
      context.performUntilInterrupted(async () =>
        (await import("../commands/watch.ts")).watch(type, names, flags, context),
      ),
    );
  addExamples(command, [
    ["xds watch eds", "endpoints as they come and go"],
    ["xds watch cds --sotw -o json | jq .name", "names of clusters, in State of the World"],
    ["xds watch cds --file /etc/envoy/xds/cds.yaml", "what an Envoy reads from a file, as it changes"],
  ]);
};
