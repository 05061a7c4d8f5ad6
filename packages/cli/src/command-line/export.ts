import type { SettingKey } from "@xdskit/source/settings";
import { Option } from "commander";
import type { ExportFlags } from "../commands/export/flags.ts";
import { responseFormats } from "../settings/response-formats.ts";
import { addSettingFlags } from "../settings/setting-flag.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { readDuration } from "./duration-flag.ts";

const SETTINGS: readonly SettingKey[] = [
  "descriptors",
  "validation",
  "secret-files",
  "allow-empty",
  "make-before-break",
  "order-limit",
  "log.level",
  "log.format",
  "limits.max-file-bytes",
  "limits.module-timeout",
];

/** `xds export DIR OUT`: writes a node's view to files for Envoy's filesystem subscriptions. */
export const addExportCommand: AddCommand = (program, context) => {
  const command = program
    .command("export")
    .summary("write resources to files for filesystem subscriptions")
    .description(
      "Write the resources of a node to files for Envoy's filesystem subscriptions (path_config_source): one file each for " +
        "listeners, clusters and scoped routes, and one for each other resource. Files are replaced atomically, in make-before-break order.",
    )
    .argument("<dir>", "directory to read, or a module such as mesh.ts")
    .argument("<out>", "directory to write to; Envoy must see it at the same path")
    .addOption(new Option("--format <format>", "format of the files").choices(responseFormats).default("yaml"))
    .option("-n, --node <id>", "id of the node", "")
    .option("--cluster <name>", "cluster of the node", "")
    .option("--rewrite-sources", "rewrite config sources to point to the files")
    .option("--symlinks", "write a new directory each time and swap the link ..data to it, as Kubernetes does")
    .option("--v2", "write the resources of v2 instead of those of v3")
    .addOption(
      new Option("--settle <duration>", "time for clients to load a file before its dependents are written")
        .argParser((text: string) => readDuration("--settle", text))
        .default(250, "250ms"),
    )
    .option("-w, --watch", "keep running, and write every change of the directory")
    .action((directory: string, out: string, flags: ExportFlags) =>
      flags.watch === true
        ? context.performUntilInterrupted(async () =>
            (await import("../commands/export.ts")).exportAndFollow(directory, out, flags, context),
          )
        : context.perform(async () =>
            (await import("../commands/export.ts")).exportOnce(directory, out, flags, context),
          ),
    );
  addSettingFlags(command, SETTINGS);
  addExamples(command, [
    ["xds export config /var/lib/envoy/xds --rewrite-sources", "once, for an Envoy without a network"],
    [
      "xds export config /var/lib/envoy/xds --rewrite-sources --node edge-7 --watch",
      "what edge-7 sees, and every change",
    ],
  ]);
};
