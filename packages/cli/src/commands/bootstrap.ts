import { resolve } from "node:path";
import { Argument, Option } from "commander";
import { stringify } from "yaml";
import { serverOf } from "../discovery/connection-flags.ts";
import { addDescriptionFlags, type DescribedNode } from "../discovery/node-flags.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { type Address, parseAddress } from "../settings/address.ts";
import { type EnvoySource, type FileFormat, fileFormats } from "./bootstrap/dynamic-resources.ts";
import { envoyBootstrap } from "./bootstrap/envoy.ts";
import { grpcBootstrap } from "./bootstrap/grpc.ts";
import type { BootstrapTls } from "./bootstrap/tls.ts";
import { type EnvoyTransport, envoyTransports } from "./bootstrap/transport.ts";
import { type AddCommand, addExamples, type CommandContext } from "./context.ts";

interface BootstrapFlags extends DescribedNode {
  readonly server?: string;
  readonly node: string;
  readonly cluster: string;
  readonly transport?: EnvoyTransport;
  readonly v2?: boolean;
  readonly files?: string;
  readonly format?: FileFormat;
  readonly output?: "yaml" | "json";
  readonly admin?: Address;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** `xds bootstrap envoy|grpc`: what a client needs to find a server. */
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
    .option("--v2", "for a client that speaks version 2 of the API, which ended in 2021")
    .option("--files <dir>", "where the files of --transport file are, as Envoy sees them")
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
    .option("--ca <file>", "connect over TLS; PEM file of the authority that signed the server's certificate")
    .option("--cert <file>", "PEM file of the certificate that the client shows")
    .option("--key <file>", "PEM file of that certificate's private key")
    .action((client: string, flags: BootstrapFlags) => context.perform(() => bootstrap(client, flags, context)));
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

async function bootstrap(client: string, flags: BootstrapFlags, { io }: CommandContext): Promise<ExitCode> {
  const source = sourceOf(flags, io.cwd);
  if (source.transport === "file" && (flags.server ?? flags.ca) !== undefined) {
    throw new CommandError(exitCode.usage, "an Envoy that reads files asks no server", "leave --server and --ca off");
  }
  const text = serverOf(flags, io);
  const server = parseAddress(text);
  if (server === undefined) throw new CommandError(exitCode.usage, `--server: expected host:port, got "${text}"`);
  const { node, cluster, metadata, locality } = flags;
  const version = flags.v2 === true ? "v2" : "v3";
  const options = { server, node, cluster, metadata, locality, version, tls: tlsOf(flags, io.cwd) } as const;
  if (client === "grpc") {
    refuseForGrpc(flags);
    io.stdout.write(formatJson(grpcBootstrap(options)));
    return exitCode.ok;
  }
  const admin = flags.admin ?? { host: "127.0.0.1", port: 9901 };
  const value = envoyBootstrap({ ...options, source, admin });
  const yaml = (): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
  io.stdout.write(flags.output === "json" ? formatJson(value) : yaml());
  return exitCode.ok;
}

function sourceOf({ transport = "ads-delta", files, format }: BootstrapFlags, cwd: string): EnvoySource {
  if (transport === "file") {
    if (files !== undefined) return { transport, files: { directory: resolve(cwd, files), format: format ?? "yaml" } };
    throw new CommandError(exitCode.usage, "--transport file reads files", "say where they are with --files DIR");
  }
  if (files === undefined && format === undefined) return { transport };
  throw new CommandError(exitCode.usage, "--files and --format are for --transport file");
}

function refuseForGrpc({ transport, output }: BootstrapFlags): void {
  if (transport !== undefined && transport !== "ads") {
    throw new CommandError(exitCode.usage, "gRPC clients ask on one aggregated stream", "leave --transport off");
  }
  if (output === "yaml") throw new CommandError(exitCode.usage, "gRPC clients read JSON", "leave --output off");
}

/** Clients read relative paths from the directory that they are started in: absolute ones hold in any. */
function tlsOf({ ca, cert, key }: BootstrapFlags, cwd: string): BootstrapTls | undefined {
  if ((cert === undefined) !== (key === undefined)) {
    throw new CommandError(exitCode.usage, "a certificate and its key go together", "give both --cert and --key");
  }
  const client =
    cert === undefined || key === undefined ? undefined : { cert: resolve(cwd, cert), key: resolve(cwd, key) };
  if (ca !== undefined) return { ca: resolve(cwd, ca), client };
  if (client === undefined) return undefined;
  throw new CommandError(
    exitCode.usage,
    "--cert is for TLS",
    "give --ca, too: the authority of the server's certificate",
  );
}

function readAddress(text: string): Address {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  throw new CommandError(exitCode.usage, `--admin: expected host:port, got "${text}"`, "such as 127.0.0.1:9901");
}
