import { Argument } from "commander";
import type { StoreFlags } from "../commands/store.ts";
import { addSettingFlags } from "../settings/setting-flag.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

/** `xds store adopt|export|import`: what is done with a store as a whole. */
export const addStoreCommand: AddCommand = (program, context) => {
  const command = program
    .command("store")
    .summary("export, import or adopt the history of a store")
    .description(
      "export: write all that a store has to one file: records, resources and the snapshot, without the content of Secrets. " +
        "import: check such a file and put it into a store that is empty. " +
        "adopt: have a server put in force what its store has, although that does not continue what the server serves, as " +
        "after a restored backup.",
    )
    .addArgument(new Argument("<what>", "what to do").choices(["adopt", "export", "import"]))
    .argument("[file]", "export: file to write; import: file to read; - or none: standard output or input")
    .option("--replace", "import: let go of what the store has");
  addAdminFlag(command).action((what: "adopt" | "export" | "import", file: string | undefined, flags: StoreFlags) =>
    context.perform(async () => (await import("../commands/store.ts")).store(what, file, flags, context)),
  );
  addSettingFlags(command, ["store"]);
  addExamples(command, [
    ["xds store export backup.ledger --store etcd://a:2379,b:2379/mesh", "a backup, while servers follow the store"],
    ["xds store import backup.ledger --store etcd://c:2379/mesh", "into an empty store"],
    [
      "xds store export --store file:/srv/ledger | xds store import --store etcd://a:2379/mesh",
      "from a directory into etcd",
    ],
    ["xds store adopt --admin 127.0.0.1:18001", "each server decides for itself"],
  ]);
};
