import { Option } from "commander";
import type { DeliveriesFlags } from "../commands/deliveries.ts";
import { deliveryGroupings } from "../commands/delivery-groups.ts";
import { deliveryStates } from "../commands/delivery-states.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag, addNodeFilterFlags } from "./admin-flag.ts";

/** `xds deliveries`: the delivery status of each node and type. */
export const addDeliveriesCommand: AddCommand = (program, context) => {
  const command = program
    .command("deliveries")
    .summary("show which versions clients ACKed or NACKed")
    .description("Show the delivery status of every response: ACKed, NACKed and why, or awaiting an ACK.");
  addNodeFilterFlags(addAdminFlag(command))
    .option("-n, --node <glob>", "only nodes that match: edge-7 or 'edge-*'")
    .option("-t, --type <type>", "only this type: cds, eds … or a type URL")
    .addOption(new Option("--state <state>", "only rows in this state").choices(deliveryStates))
    .addOption(
      new Option("--group-by <what>", "count deliveries by type and a common value").choices(deliveryGroupings),
    )
    .addOption(new Option("-o, --output <format>", "output format").choices(["table", "json"]).default("table"))
    .action((flags: DeliveriesFlags) =>
      context.perform(async () => (await import("../commands/deliveries.ts")).deliveries(flags, context)),
    );
  addExamples(command, [
    ["xds deliveries", "a line for each node and type"],
    ["xds deliveries --state nacked", "who NACKed what, and why"],
    ["xds deliveries --type cds --group-by version", "how far a change of the clusters has come"],
  ]);
};
