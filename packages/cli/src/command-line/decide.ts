import { type Command, Option } from "commander";
import type { CommandContext } from "../commands/context.ts";
import type { DecideFlags, Decision } from "../commands/decide.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds approve [NUMBER]`: puts a held change in force. */
export const addApproveCommand: AddCommand = (program, context) => {
  const command = program
    .command("approve")
    .summary("put a held change in force")
    .description("Put the change that a fuse holds in force.")
    .argument("[number]", "the number of the held change; without it, the one that is held");
  addDecision(command, "approve", context);
  addExamples(command, [["xds approve 15 -m 'the old fleet is gone'", "after xds show 15; the message is kept"]]);
};

/** `xds reject [NUMBER]`: drops a held change. */
export const addRejectCommand: AddCommand = (program, context) => {
  const command = program
    .command("reject")
    .summary("drop a held change")
    .description("Drop the change that a fuse holds.")
    .argument("[number]", "the number of the held change; without it, the one that is held");
  addDecision(command, "reject", context);
  addExamples(command, [["xds reject -m 'a broken checkout'", "the files are still to be mended"]]);
};

/** `xds rollback NUMBER`: goes back. */
export const addRollbackCommand: AddCommand = (program, context) => {
  const command = program
    .command("rollback")
    .summary("go back to what was served")
    .description(
      "Bring back what was served at a number, but live data (EDS, LEDS, SDS). What is taken back is held from then on " +
        "until its resource changes.",
    )
    .argument("<number>", "the number of xds history to go back to");
  addDecision(command, "rollback", context);
  addExamples(command, [
    ["xds show 15..12", "what the next line would change"],
    ["xds rollback 12 -m 'errors since 13'", "as it was at 12"],
  ]);
};

function addDecision(command: Command, decision: Decision, context: CommandContext): void {
  addAdminFlag(command)
    .option("-m, --message <text>", "why, for the history")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action((number: string | undefined, flags: DecideFlags) =>
      context.perform(async () => (await import("../commands/decide.ts")).decide(decision, number, flags, context)),
    );
}
