import { Argument } from "commander";
import type { AdminFlags } from "../commands/admin-server.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds store adopt`: has a server apply a store whose history is another. */
export const addStoreCommand: AddCommand = (program, context) => {
  const command = program
    .command("store")
    .summary("adopt the history of a shared store")
    .description(
      "adopt: put in force what the store has, although its history does not continue what the server serves, as after " +
        "a restored backup.",
    )
    .addArgument(new Argument("<what>", "what to do").choices(["adopt"]));
  addAdminFlag(command).action((_what: "adopt", flags: AdminFlags) =>
    context.perform(async () => (await import("../commands/store.ts")).adoptStore(flags, context)),
  );
  addExamples(command, [["xds store adopt --admin 127.0.0.1:18001", "each server decides for itself"]]);
};
