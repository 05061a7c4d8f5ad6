import type { SettingKey } from "@xdskit/source/settings";
import { Option } from "commander";
import type { PublishFlags } from "../commands/publish.ts";
import { addSettingFlags, SOURCE_SETTINGS } from "../settings/setting-flag.ts";
import { type AddCommand, addExamples } from "./add-command.ts";

const SETTINGS: readonly SettingKey[] = [
  "store",
  ...SOURCE_SETTINGS,
  "fuses.resources-removed",
  "fuses.resources-removed-floor",
  "fuses.size-grown",
  "fuses.size-shrunk",
  "fuses.size-floor",
  "fuses.endpoints-emptied",
];

/** `xds publish DIR --store URL`: publishes a directory to the servers that follow a store. */
export const addPublishCommand: AddCommand = (program, context) => {
  const command = program
    .command("publish")
    .summary("publish a directory to a store that servers follow")
    .description(
      "Publish a directory of resources, or what a module exports, to a store. Every server that follows the store " +
        "serves it. Problems and fuses are those of xds serve.",
    )
    .argument("<dir>", "directory or module to publish; xdskit.yaml in its directory may contain any setting")
    .option("-m, --message <text>", "reason, kept in the history (default: the message of the commit)")
    .option("--author <name>", "author, kept in the history (default: the author of the commit, else the local user)")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action((directory: string, flags: PublishFlags) =>
      context.perform(async () => (await import("../commands/publish.ts")).publish(directory, flags, context)),
    );
  addSettingFlags(command, SETTINGS);
  addExamples(command, [
    ["xds publish config --store etcd://a:2379,b:2379/mesh", "in CI, after a merge"],
    [
      "xds publish config --store file:/srv/ledger -m 'drop the old fleet'",
      "a store in a directory, no server beside it",
    ],
  ]);
};
