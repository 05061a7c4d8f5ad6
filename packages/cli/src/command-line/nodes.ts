import { Option } from "commander";
import { groupings } from "../commands/node-groups.ts";
import type { NodesFlags } from "../commands/nodes.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag, addNodeFilterFlags } from "./admin-flag.ts";

/** `xds nodes [NODE]`: connected nodes. */
export const addNodesCommand: AddCommand = (program, context) => {
  const command = program
    .command("nodes")
    .summary("show connected nodes")
    .description("Show the nodes connected to a server, their layers, and the state of their subscriptions.")
    .argument("[node]", "show every type of this node; with * in it, a line for each such node");
  addNodeFilterFlags(addAdminFlag(command))
    .option("-t, --type <type>", "only nodes that ask for this type: cds, eds … or a type URL")
    .option("--nacked", "only nodes that NACKed something")
    .addOption(
      new Option(
        "--group-by <what>",
        "count nodes by a common value; state: how far they are with the newest revision",
      ).choices(groupings),
    )
    .addOption(new Option("-o, --output <format>", "output format").choices(["table", "json"]).default("table"))
    .action((node: string | undefined, flags: NodesFlags) =>
      context.perform(async () => (await import("../commands/nodes.ts")).nodes(node, flags, context)),
    );
  addExamples(command, [
    ["xds nodes", "everybody, a line each"],
    ["xds nodes 'edge-*' --nacked", "those of a fleet that NACKed something"],
    ["xds nodes --type cds --group-by version", "how many nodes hold which version of the clusters"],
    [
      "xds nodes 'edge-*' --group-by state",
      "how many of them have the newest revision, wait for something or NACKed it",
    ],
    ["xds nodes edge-7", "one node: versions, refusals and missing names of each type"],
  ]);
};
