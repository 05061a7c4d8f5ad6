import { Option } from "commander";
import type { DiffFlags } from "../commands/diff/flags.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds diff A [B]`: resources in which two sides differ. */
export const addDiffCommand: AddCommand = (program, context) => {
  const command = program
    .command("diff")
    .summary("compare directories, servers and nodes by resource and field")
    .description(
      "Compare two sides by resource and field. A side is a directory or module, the URL of an admin API (http://host:port, unix:PATH), or, of the server of --admin, a connected node (node:ID), a number of xds history, head, or held (what approving the held change would lead to). At a number, live data (EDS, LEDS, SDS) is that of now. Secrets are compared by digest. Exits with 0 if both are equal, and with 1 if not.",
    )
    .argument(
      "[a]",
      "directory (./12 for one that looks like a number), module, admin URL, node:ID, number, head or held",
    )
    .argument("[b]", "the same (default: the server of --admin)");
  addAdminFlag(command)
    .option("-n, --node <id>", "compare what this node has, as far as the server knows, with --envoy")
    .option("--envoy <url>", "admin interface of the node's Envoy: http://host:port")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action((a: string | undefined, b: string | undefined, flags: DiffFlags) =>
      context.perform(async () => (await import("../commands/diff.ts")).diff(a, b, flags, context)),
    );
  addExamples(command, [
    ["xds diff http://127.0.0.1:18001 config", "what would change if the server served this directory"],
    ["xds diff config-before config", "two directories"],
    ["xds diff 12 head", "what changed since 12, by field"],
    ["xds diff head held", "what approving the held change would do"],
    ["xds diff 12 config", "what differs in a directory from what was served at 12"],
    ["xds diff node:edge-1 node:edge-2", "what two nodes see"],
    ["xds diff --node edge-1 --envoy http://127.0.0.1:9901", "what an Envoy has, and what the server sent it"],
    ["xds diff node:edge-1 config", "what a node sees, and what it would see of a directory"],
  ]);
};
