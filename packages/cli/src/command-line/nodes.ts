import { Option } from "commander";
import type { NodesFlags } from "../commands/nodes.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds nodes [NODE]`: who is connected. */
export const addNodesCommand: AddCommand = (program, context) => {
  const command = program
    .command("nodes")
    .summary("show connected nodes")
    .description("Show the nodes connected to a server, their layers, and the state of their subscriptions.")
    .argument("[node]", "show every type of this node");
  addAdminFlag(command)
    .addOption(new Option("-o, --output <format>", "output format").choices(["table", "json"]).default("table"))
    .action((node: string | undefined, flags: NodesFlags) =>
      context.perform(async () => (await import("../commands/nodes.ts")).nodes(node, flags, context)),
    );
  addExamples(command, [
    ["xds nodes", "everybody, a line each"],
    ["xds nodes edge-7", "one node: versions, refusals and missing names of each type"],
  ]);
};
