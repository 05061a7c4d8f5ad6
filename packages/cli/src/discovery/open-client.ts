import { type ClientConfig, createXdsClient, type TypeOrUrl, type XdsClient, XdsClientError } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { CommandError, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { chooseColors } from "../output/color.ts";
import { formatConfigProblems } from "../output/config-problems.ts";
import { Answers } from "./answers.ts";
import type { ConnectionFlags } from "./connection-flags.ts";
import type { Asked } from "./connection-hint.ts";
import { nodeOf } from "./node-of-flags.ts";
import type { Start } from "./start.ts";
import { typeNamed } from "./type-named.ts";

/** A client made from the flags. */
export interface OpenedClient {
  readonly client: XdsClient;
  readonly answers: Answers;
  readonly asked: Asked;
}

/** Options that are not flags. */
export interface OpenOptions {
  readonly api: EnvoyApi;
  readonly io: Io;
  /** The initial fetch timeout in milliseconds; not used with a bootstrap. */
  readonly timeoutMs?: number;
}

/** Creates the client. Throws a `CommandError` for an invalid bootstrap. */
export async function openClient(
  { options, asked }: Start,
  flags: ConnectionFlags,
  { io, api, timeoutMs }: OpenOptions,
): Promise<OpenedClient> {
  const answers = new Answers();
  const isByBootstrap = asked.by === "bootstrap";
  try {
    const client = await createXdsClient({
      ...options,
      api,
      validation: { nackPolicy: "apply-valid", clientPgv: flags.unchecked !== true },
      onReport: answers.onReport,
      signal: io.interrupted,
      ...(!isByBootstrap && timeoutMs !== undefined && { limits: { initialFetchTimeoutMs: timeoutMs } }),
    });
    // Node flags override the node of the bootstrap.
    const given = givenNode(flags, client.config.node);
    if (isByBootstrap && Object.keys(given).length > 0) client.changeNode(given);
    return { client, answers, asked };
  } catch (cause) {
    if (!(cause instanceof XdsClientError) || cause.code !== "CONFIG_INVALID") throw cause;
    throw isByBootstrap ? invalidBootstrap(cause, io) : new CommandError(exitCode.usage, cause.message);
  }
}

/** The type that the caller names, in the API version of the flags. Throws a `CommandError` for an unknown type. */
export function wantedType(text: string, { asked }: Start, { v2 }: ConnectionFlags, api: EnvoyApi): TypeOrUrl {
  const type = typeNamed(text, v2 === true ? "v2" : "v3", api);
  // The bootstrap decides the API version.
  return asked.by === "bootstrap" && !text.includes("/") ? { typeUrl: type } : type;
}

/** Metadata is merged into the bootstrap's; the locality replaces the bootstrap's. */
function givenNode(flags: ConnectionFlags, before: ClientConfig["node"]): Partial<ClientConfig["node"]> {
  const { node, cluster, metadata = {} } = flags;
  const { locality } = nodeOf(flags);
  return {
    ...(node !== undefined && { id: node }),
    ...(cluster !== undefined && { cluster }),
    ...(Object.keys(metadata).length > 0 && { metadata: { ...before.metadata, ...metadata } }),
    ...(locality !== undefined && { locality }),
  };
}

function invalidBootstrap({ problems }: XdsClientError, io: Io): CommandError {
  const colors = chooseColors(io.stderr, io.env, "never");
  const told = formatConfigProblems(problems, io.cwd, colors).trimEnd();
  return new CommandError(exitCode.problems, `the bootstrap cannot be used\n${told}`);
}
