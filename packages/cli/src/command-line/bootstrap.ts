import { Argument, Option } from "commander";
import { fileFormats } from "../commands/bootstrap/dynamic-resources.ts";
import { envoyTransports } from "../commands/bootstrap/transport.ts";
import type { BootstrapFlags } from "../commands/bootstrap.ts";
import { addDescriptionFlags } from "../discovery/node-flags.ts";
import { CommandError, exitCode } from "../exit-code.ts";
import { type Address, parseAddress } from "../settings/address.ts";
import { type AddCommand, addExamples } from "./add-command.ts";

/** `xds bootstrap envoy|grpc`: prints a bootstrap that points a client to an xDS server. */
export const addBootstrapCommand: AddCommand = (program, context) => {
  const command = program
    .command("bootstrap")
    .summary("print a bootstrap configuration for Envoy or gRPC")
    .description(
      "Print a bootstrap configuration that points a client to an xDS server: YAML for Envoy, JSON for gRPC.",
    )
    .addArgument(new Argument("<client>", "type of client").choices(["envoy", "grpc"]))
    .option("-s, --server <host:port>", "xDS server (default: 127.0.0.1:18000) [XDS_SERVER]")
    .option("-n, --node <id>", "node id", "node-1")
    .option("-c, --cluster <name>", "the node's cluster", "xdskit")
    .addOption(
      new Option(
        "-t, --transport <transport>",
        "how Envoy subscribes: one aggregated stream (ads, ads-delta: the default), a stream per type, REST polling, files",
      ).choices(envoyTransports),
    )
    .option("--v2", "for a client of xDS API v2 (removed from Envoy in 2021)")
    .option("--files <dir>", "with --transport file: directory of the files, as Envoy sees it")
    .addOption(new Option("--format <format>", "format of those files (default: yaml)").choices(fileFormats))
    .addOption(
      new Option("-o, --output <format>", "output format (default: yaml for Envoy, json for gRPC)").choices([
        "yaml",
        "json",
      ]),
    )
    .addOption(
      new Option("--admin <host:port>", "address of Envoy's admin interface (port 0: any free port)").argParser(
        readAddress,
      ),
    )
    .option("--ca <file>", "connect over TLS; PEM file with the CA of the server certificate")
    .option(
      "--server-name <name>",
      "DNS name or IP address in the server's certificate (default: the host of --server)",
    )
    .option("--cert <file>", "PEM file with the client certificate")
    .option("--key <file>", "PEM file with its private key")
    .action((client: string, flags: BootstrapFlags) =>
      context.perform(async () => (await import("../commands/bootstrap.ts")).bootstrap(client, flags, context)),
    );
  addDescriptionFlags(command);
  command.addHelpText(
    "after",
    "\nPaths of files are written as absolute paths, so that the client may start in any directory.",
  );
  addExamples(command, [
    ["xds bootstrap envoy > envoy.yaml && envoy -c envoy.yaml", "an Envoy that is served by 127.0.0.1:18000"],
    ["xds bootstrap envoy --node edge-7 --transport rest --server xds.example:18000", "by polls of another server"],
    ["xds bootstrap envoy --transport file --files /etc/envoy/xds", "from files that xds export writes"],
    ["xds bootstrap grpc > grpc.json && GRPC_XDS_BOOTSTRAP=grpc.json my-client", "a gRPC client"],
  ]);
};

function readAddress(text: string): Address {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  throw new CommandError(exitCode.usage, `--admin: expected host:port, got "${text}"`, "such as 127.0.0.1:9901");
}
