import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { TlsConfig } from "@xdskit/client";
import { type Command, Option } from "commander";
import { CommandError, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { reachedAddress } from "../settings/address.ts";
import { splitPaths } from "../settings/split-paths.ts";
import { addDescriptionFlags, type Locality } from "./node-flags.ts";

/** The connection and node flags of `get`, `watch` and `dump`; `check` has some of them. */
export interface ConnectionFlags {
  readonly server?: string;
  readonly node?: string;
  readonly cluster?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly locality?: Locality;
  readonly delta?: boolean;
  readonly sotw?: boolean;
  readonly perType?: boolean;
  readonly rest?: boolean;
  /** Delay between REST polls in milliseconds; only `watch` has it. */
  readonly refreshDelay?: number;
  readonly v2?: boolean;
  readonly file?: string;
  readonly bootstrap?: string;
  /** Accepts resources that fail validation. */
  readonly unchecked?: boolean;
  readonly tls?: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly descriptors?: readonly string[];
}

const HOW_A_SERVER_IS_ASKED = ["server", "delta", "sotw", "perType", "rest", "tls", "ca", "cert", "key", "serverName"];
/** Flags that conflict with `--bootstrap`. */
export const NOT_WITH_A_BOOTSTRAP: readonly string[] = [...HOW_A_SERVER_IS_ASKED, "v2", "file"];
const DEFAULT_SERVER = "127.0.0.1:18000";
/** Whether a flag is given that conflicts with a bootstrap. */
export function saysHowAServerIsAsked(flags: ConnectionFlags): boolean {
  const given = new Map<string, unknown>(Object.entries(flags));
  return NOT_WITH_A_BOOTSTRAP.some((name) => given.get(name) !== undefined);
}

/** Adds the connection flags to a command. */
export function addConnectionFlags(command: Command): Command {
  addServerFlags(command).addOption(
    new Option(
      "--file <file>",
      "read a local xDS file instead of asking a server (get: - for standard input)",
    ).conflicts(HOW_A_SERVER_IS_ASKED),
  );
  return addTrustFlags(command);
}

/** Adds the connection flags without `--file`, for a command that needs several types. */
export function addServerConnectionFlags(command: Command): Command {
  return addTrustFlags(addServerFlags(command));
}

/** Adds the flags about the node and about validation, which also apply with a bootstrap. */
export function addNodeFlags(command: Command): Command {
  command
    .addOption(new Option("-n, --node <id>", "node id (default: the bootstrap's, else xds-cli)"))
    .addOption(new Option("--cluster <name>", "node cluster"));
  return addDescriptionFlags(command)
    .addOption(new Option("--unchecked", "accept resources that fail validation"))
    .addOption(
      new Option(
        "--descriptors <file>",
        "FileDescriptorSet file with additional messages (may be repeated) [XDS_DESCRIPTORS]",
      ).argParser((path: string, before: readonly string[] | undefined) => [...(before ?? []), path]),
    );
}

function addServerFlags(command: Command): Command {
  command.addOption(new Option("-s, --server <host:port>", "xDS server (default: 127.0.0.1:18000) [XDS_SERVER]"));
  return addNodeFlags(command)
    .addOption(new Option("--delta", "use delta xDS (default)").conflicts("sotw"))
    .addOption(new Option("--sotw", "use state-of-the-world xDS"))
    .addOption(new Option("--per-type", "use a stream per type instead of ADS"))
    .addOption(new Option("--rest", "use REST-JSON polling").conflicts(["delta", "sotw", "perType"]))
    .addOption(new Option("--v2", "use xDS API v2 (removed from Envoy in 2021)"))
    .addOption(
      new Option(
        "--bootstrap <file>",
        "use the servers and node of this bootstrap [GRPC_XDS_BOOTSTRAP, GRPC_XDS_BOOTSTRAP_CONFIG]",
      ).conflicts([...NOT_WITH_A_BOOTSTRAP]),
    );
}

function addTrustFlags(command: Command): Command {
  return command
    .addOption(new Option("--tls", "connect over TLS").helpGroup("TLS:"))
    .addOption(new Option("--ca <file>", "PEM file with the CA of the server certificate").helpGroup("TLS:"))
    .addOption(new Option("--cert <file>", "PEM file with the client certificate").helpGroup("TLS:"))
    .addOption(new Option("--key <file>", "PEM file with its private key").helpGroup("TLS:"))
    .addOption(new Option("--server-name <name>", "expected name in the server certificate").helpGroup("TLS:"));
}

/** The address of the server: `--server`, else XDS_SERVER, else the default. */
export function serverOf({ server }: { readonly server?: string | undefined }, { env }: Io): string {
  return reachedAddress(server ?? (env["XDS_SERVER"] || DEFAULT_SERVER));
}

/** Absolute paths of the descriptor files: `--descriptors`, else XDS_DESCRIPTORS. */
export function descriptorFilesOf({ descriptors }: ConnectionFlags, { env, cwd }: Io): readonly string[] {
  return (descriptors ?? splitPaths(env["XDS_DESCRIPTORS"] ?? "")).map((path) => resolve(cwd, path));
}

/** Reads the TLS files; undefined if no TLS flag is given. Throws a `CommandError` for a file that cannot be read. */
export async function tlsOf(
  { tls, ca, cert, key, serverName }: ConnectionFlags,
  io: Io,
): Promise<Partial<TlsConfig> | undefined> {
  if (tls !== true && [ca, cert, key, serverName].every((given) => given === undefined)) return undefined;
  if ((cert === undefined) !== (key === undefined)) {
    throw new CommandError(exitCode.usage, "--cert and --key go together");
  }
  const read = (path: string): Promise<string> => readText(resolve(io.cwd, path));
  return {
    ...(ca !== undefined && { ca: await read(ca) }),
    ...(cert !== undefined && { certificate: await read(cert) }),
    ...(key !== undefined && { key: await read(key) }),
    ...(serverName !== undefined && { serverName }),
  };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new CommandError(exitCode.usage, cause instanceof Error ? cause.message : String(cause));
  }
}
