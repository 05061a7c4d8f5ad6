import { resolve } from "node:path";
import { createXdsClient, type TypeOrUrl, type XdsClient, XdsClientError, type XdsClientOptions } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { CommandError, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { chooseColors } from "../output/color.ts";
import { formatConfigProblems } from "../output/config-problems.ts";
import { Answers } from "./answers.ts";
import { type ConnectionFlags, nodeOf, serverOf, tlsOf } from "./connection-flags.ts";
import type { Asked } from "./connection-hint.ts";
import { typeNamed } from "./type-named.ts";

/** A client as the flags ask for it. */
export interface OpenedClient {
  readonly client: XdsClient;
  readonly answers: Answers;
  readonly asked: Asked;
}

/** What the flags do not say. */
export interface OpenOptions {
  readonly api: EnvoyApi;
  readonly io: Io;
  /** For how long somebody waits for an answer. */
  readonly timeoutMs?: number;
}

/** Longer than servers hold a poll until something changes. */
const POLL_TIMEOUT_MS = 30_000;
const REFRESH_DELAY_MS = 1_000;

/** Makes the client. Throws a `CommandError` for flags that cannot be understood, and for a bootstrap with mistakes. */
export async function openClient(flags: ConnectionFlags, options: OpenOptions): Promise<OpenedClient> {
  const { io, api, timeoutMs } = options;
  const answers = new Answers();
  const { start, asked } = await startOf(flags, options);
  try {
    const client = await createXdsClient({
      ...start,
      api,
      nackPolicy: "apply-valid",
      clientPgv: flags.unchecked !== true,
      onReport: answers.onReport,
      signal: io.interrupted,
      ...(flags.bootstrap === undefined && timeoutMs !== undefined && { initialFetchTimeoutMs: timeoutMs }),
    });
    // In a bootstrap there may be a node; who asks as another one wants it to be that.
    const given = givenNode(flags);
    if (flags.bootstrap !== undefined && Object.keys(given).length > 0) client.changeNode(given);
    return { client, answers, asked };
  } catch (cause) {
    if (!(cause instanceof XdsClientError) || cause.code !== "CONFIG_INVALID") throw cause;
    throw invalidBootstrap(cause, flags, io);
  }
}

/** The type that the caller means, in the version of the API that is asked for. Throws a `CommandError` for a word that names none. */
export function wantedType(text: string, flags: ConnectionFlags, api: EnvoyApi): TypeOrUrl {
  const type = typeNamed(text, flags.v2 === true ? "v2" : "v3", api);
  // The bootstrap says in which version resources are asked for.
  return flags.bootstrap !== undefined && !text.includes("/") ? { typeUrl: type } : type;
}

async function startOf(
  flags: ConnectionFlags,
  { io }: OpenOptions,
): Promise<{ readonly start: XdsClientOptions; readonly asked: Asked }> {
  const node = nodeOf(flags);
  if (flags.file !== undefined) {
    const file = resolve(io.cwd, flags.file);
    return { start: { file, node }, asked: { where: flags.file, path: file, by: "file", tls: undefined } };
  }
  if (flags.bootstrap !== undefined) {
    const bootstrap = resolve(io.cwd, flags.bootstrap);
    return { start: { bootstrap, node }, asked: { where: undefined, by: "bootstrap", tls: undefined } };
  }
  const server = serverOf(flags, io);
  if (!/^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]/]+):\d{1,5}$/.test(server)) {
    throw new CommandError(exitCode.usage, `--server: expected host:port, got "${server}"`);
  }
  const tls = await tlsOf(flags, io);
  const { refreshDelay = REFRESH_DELAY_MS } = flags;
  const start = {
    server,
    node,
    apiVersion: flags.v2 === true ? "v2" : "v3",
    variant: flags.sotw === true ? "sotw" : "delta",
    isAggregated: flags.perType !== true,
    ...(flags.rest === true && {
      rest: { refreshDelayMs: Math.max(1, refreshDelay), requestTimeoutMs: POLL_TIMEOUT_MS },
    }),
    ...(tls !== undefined && { tls }),
  } as const;
  const trust = tls && { hasCa: tls.ca !== undefined, hasCertificate: tls.certificate !== undefined };
  const otherWay =
    flags.rest === true ? "leave --rest off" : "is it the right server? --rest, --sotw and --v2 ask in other ways";
  const asked = { where: server, by: "flags", tls: trust } as const;
  return { start, asked: { ...asked, otherWay: flags.perType === true ? "leave --per-type off" : otherWay } };
}

function givenNode({ node, cluster }: ConnectionFlags): { readonly id?: string; readonly cluster?: string } {
  return { ...(node !== undefined && { id: node }), ...(cluster !== undefined && { cluster }) };
}

function invalidBootstrap({ problems, message }: XdsClientError, flags: ConnectionFlags, io: Io): CommandError {
  if (flags.bootstrap === undefined) return new CommandError(exitCode.usage, message);
  const colors = chooseColors(io.stderr, io.env, "never");
  const told = formatConfigProblems(problems, io.cwd, colors).trimEnd();
  return new CommandError(exitCode.problems, `the bootstrap cannot be used\n${told}`);
}
