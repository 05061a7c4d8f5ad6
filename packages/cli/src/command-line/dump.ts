import { Option } from "commander";
import type { DumpFlags } from "../commands/dump.ts";
import { addServerConnectionFlags } from "../discovery/connection-flags.ts";
import { responseFormats } from "../settings/response-formats.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { readDuration } from "./duration-flag.ts";

/** `xds dump`: writes all resources of a node to files. */
export const addDumpCommand: AddCommand = (program, context) => {
  const command = program
    .command("dump")
    .summary("write all resources of a node to files for xds serve")
    .description(
      "Fetch all resources of a node and write them to files that xds serve can serve, one per type: all Listeners and Clusters, or the Listeners " +
        "that a gRPC client dials, and every resource they refer to (routes, endpoints, secrets, extension configs), each from its own config source.",
    )
    .argument("[target...]", "only resources needed to dial this target: xds:///NAME, or the name of a Listener");
  addServerConnectionFlags(command)
    .addOption(new Option("-o, --output <dir>", "directory to write to; - for standard output").default("-"))
    .addOption(new Option("--format <format>", "format of the files").choices(responseFormats).default("yaml"))
    .addOption(
      new Option("--summary <format>", "with -o DIR: format of the summary").choices(["text", "json"]).default("text"),
    )
    .option("--force", "write to a directory that is not empty, and replace an earlier dump")
    .addOption(
      new Option("--timeout <duration>", "time to wait for all resources")
        .argParser((text: string) => readDuration("--timeout", text))
        .default(20_000, "20s"),
    )
    .addOption(new Option("--wait", "wait for all resources without a timeout").conflicts("timeout"))
    .option(
      "--show-secrets",
      "include private keys and passwords, in files readable only by you; required with -o DIR if there are any",
    )
    .action((targets: readonly string[], flags: DumpFlags) =>
      context.perform(async () => (await import("../commands/dump.ts")).dump(targets, flags, context)),
    );
  addExamples(command, [
    ["xds dump --bootstrap envoy.yaml -o dump && xds serve dump", "serve again what that Envoy gets"],
    ["xds dump --node edge-7", "everything that edge-7 gets, as YAML"],
    ["xds dump xds:///my-service --bootstrap grpc.json", "what a gRPC client gets that dials xds:///my-service"],
    ["xds dump --server xds.example:18000 --ca ca.crt -o dump --format pb --show-secrets", "every byte of it"],
  ]);
};
