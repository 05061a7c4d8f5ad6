import { type Command, Option } from "commander";
import type { CommandContext } from "../commands/context.ts";
import type { DecideFlags, Decision } from "../commands/decide.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds approve [NUMBER]`: puts a held change in force. */
export const addApproveCommand: AddCommand = (program, context) => {
  const command = program
    .command("approve")
    .summary("apply a held change")
    .description("Apply the change, or the CAs and revocation lists, that a fuse holds.")
    .argument("[number]", "number of the held change, or id of held CAs (ca-…) (default: the one that is held)");
  addDecision(command, "approve", context);
  addExamples(command, [["xds approve 15 -m 'the old fleet is gone'", "after xds show 15; the message is kept"]]);
};

/** `xds reject [NUMBER]`: drops a held change. */
export const addRejectCommand: AddCommand = (program, context) => {
  const command = program
    .command("reject")
    .summary("drop a held change")
    .description("Drop the change that a fuse holds.")
    .argument("[number]", "number of the held change (default: the one that is held)");
  addDecision(command, "reject", context);
  addExamples(command, [["xds reject -m 'a broken checkout'", "the change was a mistake"]]);
};

/** `xds rollback NUMBER`: goes back. */
export const addRollbackCommand: AddCommand = (program, context) => {
  const command = program
    .command("rollback")
    .summary("restore what an earlier revision served")
    .description(
      "Serve again what was in force at a revision. Live data (EDS, LEDS, SDS) stays as it is, but for what was deleted " +
        "since and is needed again. A resource that is rolled back stays as it was until it changes in the source.",
    )
    .argument("<number>", "number of a revision in xds history");
  addDecision(command, "rollback", context).option("--force", "roll back although a fuse would hold the same change");
  addExamples(command, [
    ["xds show 15..12", "what the rollback would change"],
    ["xds rollback 12 -m 'errors since 13'", "back to revision 12"],
  ]);
};

function addDecision(command: Command, decision: Decision, context: CommandContext): Command {
  return addAdminFlag(command)
    .option("-m, --message <text>", "reason, kept in the history")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action((number: string | undefined, flags: DecideFlags) =>
      context.perform(async () => (await import("../commands/decide.ts")).decide(decision, number, flags, context)),
    );
}
