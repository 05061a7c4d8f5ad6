import { resolve } from "node:path";
import { type BootstrapInput, bootstrapFromEnvironment, type XdsClientOptions } from "@xdskit/client";
import { CommandError, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { oneLine } from "../output/one-line.ts";
import { parseAddress } from "../settings/address.ts";
import type { InputFile } from "../standard-input.ts";
import { type ConnectionFlags, saysHowAServerIsAsked, serverOf, tlsOf } from "./connection-flags.ts";
import type { Asked } from "./connection-hint.ts";
import { nodeOf } from "./node-of-flags.ts";

/** The options of a client, and how to describe it in errors. */
export interface Start {
  readonly options: XdsClientOptions;
  readonly asked: Asked;
}

/** A bootstrap, and its name in messages. */
export interface ChosenBootstrap {
  readonly input: BootstrapInput;
  readonly shown: string;
  /** The environment variable that names it; undefined if the command line does. */
  readonly variable: "GRPC_XDS_BOOTSTRAP" | "GRPC_XDS_BOOTSTRAP_CONFIG" | undefined;
}

/** Longer than servers hold a long poll. */
const POLL_TIMEOUT_MS = 30_000;
const REFRESH_DELAY_MS = 1_000;

/**
 * Chooses what to connect to: the file or bootstrap of the flags; else the server of `--server` or XDS_SERVER; else the
 * bootstrap of the gRPC environment variables, unless a connection flag is given; else the default server. `input` is
 * read in place of the file.
 */
export async function startOf(flags: ConnectionFlags, io: Io, input?: InputFile): Promise<Start> {
  if (flags.file !== undefined) {
    const path = input?.path ?? resolve(io.cwd, flags.file);
    const asked: Asked = { where: flags.file, path, by: "file", tls: undefined };
    return { options: { file: path, node: nodeOf(flags) }, asked };
  }
  const isOpen = !isSet(io.env["XDS_SERVER"]) && !saysHowAServerIsAsked(flags);
  const bootstrap = flags.bootstrap !== undefined || isOpen ? bootstrapOf(flags.bootstrap, io) : undefined;
  return bootstrap === undefined ? startFromServer(flags, io) : startFromBootstrap(bootstrap, flags, io);
}

/**
 * The bootstrap at the path, else the one that the gRPC environment variables name (C-CFG-09); undefined if they name
 * none.
 */
export function bootstrapOf(path: string | undefined, { cwd, env }: Io): ChosenBootstrap | undefined {
  if (path !== undefined) return { input: { path: resolve(cwd, path) }, shown: path, variable: undefined };
  const input = bootstrapFromEnvironment(env);
  if (input === undefined) return undefined;
  return "path" in input
    ? { input, shown: input.path, variable: "GRPC_XDS_BOOTSTRAP" }
    : { input, shown: "GRPC_XDS_BOOTSTRAP_CONFIG", variable: "GRPC_XDS_BOOTSTRAP_CONFIG" };
}

/** Starts from a bootstrap; prints the variable that named it if the command line did not. */
export function startFromBootstrap(
  { input, shown, variable }: ChosenBootstrap,
  flags: ConnectionFlags,
  { env, stderr }: Io,
): Start {
  const asked: Asked = { where: undefined, by: "bootstrap", tls: undefined };
  const node = nodeOf(flags);
  if (variable === undefined && "path" in input) return { options: { bootstrap: input.path, node }, asked };
  const where = shown === variable ? "" : ` (${oneLine(shown)})`;
  stderr.write(`xds: asks as the bootstrap in ${variable}${where} says\n`);
  return { options: { environment: env, node }, asked };
}

async function startFromServer(flags: ConnectionFlags, io: Io): Promise<Start> {
  const server = serverOf(flags, io);
  if (parseAddress(server) === undefined) {
    const name = flags.server === undefined ? "XDS_SERVER" : "--server";
    throw new CommandError(exitCode.usage, `${name}: expected host:port, got "${server}"`);
  }
  const tls = await tlsOf(flags, io);
  const { refreshDelay = REFRESH_DELAY_MS } = flags;
  const options: XdsClientOptions = {
    server,
    node: nodeOf(flags),
    transport: {
      apiVersion: flags.v2 === true ? "v2" : "v3",
      variant: flags.sotw === true ? "sotw" : "delta",
      isAggregated: flags.perType !== true,
      ...(flags.rest === true && {
        rest: { refreshDelayMs: Math.max(1, refreshDelay), requestTimeoutMs: POLL_TIMEOUT_MS },
      }),
      ...(tls !== undefined && { tls }),
    },
  };
  const trust = tls && { hasCa: tls.ca !== undefined, hasCertificate: tls.certificate !== undefined };
  return { options, asked: { where: server, by: "flags", tls: trust, otherWay: otherWayOf(flags) } };
}

/** What to try if the server does not implement the method. */
function otherWayOf({ perType, rest }: ConnectionFlags): string {
  if (perType === true) return "leave --per-type off";
  return rest === true ? "leave --rest off" : "is it the right server? --rest, --sotw and --v2 ask in other ways";
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
