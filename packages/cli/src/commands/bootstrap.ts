import { resolve } from "node:path";
import { stringify } from "yaml";
import { serverOf } from "../discovery/connection-flags.ts";
import type { DescribedNode } from "../discovery/node-flags.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { type Address, parseAddress } from "../settings/address.ts";
import type { EnvoySource, FileFormat } from "./bootstrap/dynamic-resources.ts";
import { envoyBootstrap } from "./bootstrap/envoy.ts";
import { grpcBootstrap } from "./bootstrap/grpc.ts";
import type { BootstrapTls } from "./bootstrap/tls.ts";
import type { EnvoyTransport } from "./bootstrap/transport.ts";
import type { CommandContext } from "./context.ts";

export interface BootstrapFlags extends DescribedNode {
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
  readonly serverName?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Envoy takes an `ads_config` over gRPC only, and would connect to it. */
const WITHOUT_ADS = `# This Envoy only polls, so it rejects resources that say \`ads: {}\`. In them, name the source of endpoints and routes
# as here in cds_config.
`;

export async function bootstrap(client: string, flags: BootstrapFlags, { io }: CommandContext): Promise<ExitCode> {
  const source = sourceOf(flags, io.cwd);
  if (source.transport === "file" && (flags.server ?? flags.ca) !== undefined) {
    throw new CommandError(exitCode.usage, "an Envoy that reads files asks no server", "leave --server and --ca off");
  }
  const text = serverOf(flags, io);
  const server = parseAddress(text);
  if (server === undefined) throw new CommandError(exitCode.usage, `--server: expected host:port, got "${text}"`);
  const { node, cluster, metadata, locality } = flags;
  const version = flags.v2 === true ? "v2" : "v3";
  const options = { server, node, cluster, metadata, locality, version, tls: tlsOf(flags, server, io.cwd) } as const;
  if (client === "grpc") {
    refuseForGrpc(flags);
    io.stdout.write(formatJson(grpcBootstrap(options)));
    return exitCode.ok;
  }
  const admin = flags.admin ?? { host: "127.0.0.1", port: 9901 };
  const value = envoyBootstrap({ ...options, source, admin });
  const comment = source.transport === "rest" ? WITHOUT_ADS : "";
  const yaml = (): string => comment + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
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

function refuseForGrpc({ transport, output, serverName }: BootstrapFlags): void {
  if (transport !== undefined && transport !== "ads") {
    throw new CommandError(exitCode.usage, "gRPC clients ask on one aggregated stream", "leave --transport off");
  }
  if (serverName !== undefined) {
    const hint = "leave --server-name off, and give --server as the certificate names it";
    throw new CommandError(exitCode.usage, "gRPC clients verify the host of --server", hint);
  }
  if (output === "yaml") throw new CommandError(exitCode.usage, "gRPC clients read JSON", "leave --output off");
}

/** Makes the paths absolute, because clients resolve relative ones against the directory that they start in. */
function tlsOf(
  { ca, serverName, cert, key }: BootstrapFlags,
  { host }: Address,
  cwd: string,
): BootstrapTls | undefined {
  if ((cert === undefined) !== (key === undefined)) {
    throw new CommandError(exitCode.usage, "a certificate and its key go together", "give both --cert and --key");
  }
  const client =
    cert === undefined || key === undefined ? undefined : { cert: resolve(cwd, cert), key: resolve(cwd, key) };
  if (ca !== undefined) return { ca: resolve(cwd, ca), serverName: serverName ?? host, client };
  if (client === undefined && serverName === undefined) return undefined;
  throw new CommandError(
    exitCode.usage,
    `${client === undefined ? "--server-name" : "--cert"} is for TLS`,
    "give --ca, too: the authority of the server's certificate",
  );
}
