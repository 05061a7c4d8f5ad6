import { Argument, Option } from "commander";
import { serverOf } from "../discovery/connection.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { type Address, parseAddress } from "../settings/address.ts";
import { type EnvoyMode, envoyBootstrap } from "./bootstrap/envoy.ts";
import { grpcBootstrap } from "./bootstrap/grpc.ts";
import { type Locality, parseLocality } from "./bootstrap/locality.ts";
import type { BootstrapTls } from "./bootstrap/tls.ts";
import { type AddCommand, addExamples, type CommandContext } from "./context.ts";

const MODES: readonly EnvoyMode[] = ["ads-delta", "ads-sotw", "delta", "sotw"];

interface BootstrapFlags {
  readonly server?: string;
  readonly node: string;
  readonly cluster: string;
  readonly mode: EnvoyMode;
  readonly admin?: Address;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly locality: Locality;
  readonly metadata: Readonly<Record<string, string>>;
}

/** `xds bootstrap envoy|grpc`: what a client needs to find a server. */
export const addBootstrapCommand: AddCommand = (program, context) => {
  const command = program
    .command("bootstrap")
    .summary("print the bootstrap of Envoy or of a gRPC client")
    .description("Print the bootstrap of a client that is to be served: for Envoy (YAML) or for gRPC (JSON).")
    .addArgument(new Argument("<client>", "who is to be served").choices(["envoy", "grpc"]))
    .option("-s, --server <host:port>", "xDS server (default: 127.0.0.1:18000) [XDS_SERVER]")
    .option("-n, --node <id>", "the node's id", "node-1")
    .option("-c, --cluster <name>", "the node's cluster", "xdskit")
    .addOption(
      new Option(
        "--mode <mode>",
        "how Envoy asks: all types on one stream (ads-…) or one for each, in delta or State of the World",
      )
        .choices(MODES)
        .default("ads-delta"),
    )
    .addOption(
      new Option("--admin <host:port>", "where Envoy's own admin interface listens (port 0: any free one)").argParser(
        readAddress,
      ),
    )
    .option("--ca <file>", "connect over TLS; PEM file of the authority that signed the server's certificate")
    .option("--cert <file>", "PEM file of the certificate that the client shows")
    .option("--key <file>", "PEM file of that certificate's private key")
    .addOption(
      new Option("-m, --metadata <key=value>", "of the node (may be repeated)").argParser(addPair).default({}, "none"),
    )
    .addOption(
      new Option("--locality <region/zone/sub-zone>", "where the node runs")
        .argParser(readLocality)
        .default({}, "unknown"),
    )
    .action((client: string, flags: BootstrapFlags) => context.perform(() => bootstrap(client, flags, context)));
  addExamples(command, [
    ["xds bootstrap envoy > envoy.yaml && envoy -c envoy.yaml", "an Envoy that is served by 127.0.0.1:18000"],
    ["xds bootstrap envoy --node edge-7 --mode sotw --server xds.example:18000", "another node, another server"],
    ["xds bootstrap grpc > grpc.json && GRPC_XDS_BOOTSTRAP=grpc.json my-client", "a gRPC client"],
  ]);
};

async function bootstrap(client: string, flags: BootstrapFlags, { io }: CommandContext): Promise<ExitCode> {
  const text = serverOf(flags, io);
  const server = parseAddress(text);
  if (server === undefined) throw new CommandError(exitCode.usage, `--server: expected host:port, got "${text}"`);
  const { node, cluster, mode, metadata, locality } = flags;
  const tls = tlsOf(flags);
  if (client === "grpc") {
    if (mode !== "ads-delta" && mode !== "ads-sotw") {
      throw new CommandError(exitCode.usage, "gRPC clients ask on one aggregated stream", "leave --mode off");
    }
    io.stdout.write(formatJson(grpcBootstrap({ server, node, cluster, metadata, locality, tls })));
    return exitCode.ok;
  }
  const admin = flags.admin ?? { host: "127.0.0.1", port: 9901 };
  io.stdout.write(envoyBootstrap({ server, node, cluster, metadata, locality, mode, admin, tls }));
  return exitCode.ok;
}

function tlsOf({ ca, cert, key }: BootstrapFlags): BootstrapTls | undefined {
  if ((cert === undefined) !== (key === undefined)) {
    throw new CommandError(exitCode.usage, "a certificate and its key go together", "give both --cert and --key");
  }
  const client = cert === undefined || key === undefined ? undefined : { cert, key };
  if (ca !== undefined) return { ca, client };
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

function readLocality(text: string): Locality {
  const locality = parseLocality(text);
  if (locality !== undefined) return locality;
  const message = `--locality: expected region, region/zone or region/zone/sub-zone, got "${text}"`;
  throw new CommandError(exitCode.usage, message);
}

function addPair(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new CommandError(exitCode.usage, `--metadata: expected key=value, got "${text}"`);
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}
