import { Option } from "commander";
import type { GetFlags } from "../commands/get.ts";
import { addConnectionFlags, NOT_WITH_A_BOOTSTRAP } from "../discovery/connection-flags.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminTlsFlags } from "./admin-flag.ts";
import { readDuration } from "./duration-flag.ts";
import { addTypeArguments } from "./type-arguments.ts";

/** `xds get TYPE [NAME…]`: fetches resources once. */
export const addGetCommand: AddCommand = (program, context) => {
  const command = program
    .command("get")
    .summary("get resources from any xDS server")
    .description(
      "Get resources from any xDS server over gRPC or REST, or from a file. With --node and no server option, the admin API of a local server says what that node sees.",
    );
  addTypeArguments(command);
  addConnectionFlags(command)
    .addOption(new Option("-o, --output <format>", "output format").choices(["yaml", "json", "table"]).default("yaml"))
    .addOption(
      new Option("--timeout <duration>", "time to wait for a response")
        .argParser((text: string) => readDuration("--timeout", text))
        .default(5000, "5s"),
    )
    .option("--show-secrets", "print private keys and passwords too")
    .addOption(
      new Option(
        "-a, --admin <address>",
        "admin API to ask what --node sees, by the identity it sent: host:port, https://host:port or unix:PATH [XDS_ADMIN_SERVER]",
      ).conflicts([...NOT_WITH_A_BOOTSTRAP, "bootstrap", "unchecked", "showSecrets"]),
    )
    .action((type: string, names: readonly string[], flags: GetFlags) =>
      context.perform(async () => (await import("../commands/get.ts")).get(type, names, flags, context)),
    );
  addAdminTlsFlags(command);
  addExamples(command, [
    ["xds get cds", "every cluster"],
    ["xds get eds backend --node edge-7 -o json", "the endpoints of one cluster, as node edge-7 sees them"],
    ["xds get cds --node new-1 --metadata stage=canary", "what a node would get that is not connected"],
    ["xds get lds --server xds.example:18000 --ca ca.crt", "from a server elsewhere, over TLS"],
    ["xds get cds --rest --v2", "as an old client gets them, by a poll"],
    ["xds get cds --bootstrap envoy.yaml", "what the Envoy with this bootstrap gets"],
    ["xds get lds --file /etc/envoy/xds/lds.yaml", "what a file holds for an Envoy"],
    ["ssh edge-7 cat /etc/envoy/xds/cds.yaml | xds get cds --file -", "what standard input holds"],
  ]);
};
