import { setTimeout as sleep } from "node:timers/promises";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import { Option } from "commander";
import { chooseTransport } from "../discovery/choose-transport.ts";
import { addConnectionFlags, type ConnectionFlags, descriptorFilesOf } from "../discovery/connection-flags.ts";
import { type Answer, HeldResources } from "../discovery/held.ts";
import { formatYaml, resourceValue } from "../discovery/resource-value.ts";
import type { Connection, Transport } from "../discovery/transport.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatJsonLine } from "../output/json.ts";
import { loadApi } from "../settings/load-api.ts";
import { type AddCommand, addExamples, type CommandContext } from "./context.ts";
import { readDuration } from "./duration-flag.ts";
import { addTypeArguments, failure, typeNamed } from "./get.ts";

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

interface WatchFlags extends ConnectionFlags {
  readonly output: "yaml" | "json";
  readonly showSecrets?: boolean;
}

/** `xds watch TYPE [NAME…]`: what a client would get, and every change of it, until interrupted. */
export const addWatchCommand: AddCommand = (program, context) => {
  const command = program
    .command("watch")
    .summary("follow resources of any xDS server")
    .description(
      "Follow resources of any xDS server, or in a file: what there is, then every change. Comes back after a break.",
    );
  addTypeArguments(command);
  addConnectionFlags(command)
    .addOption(
      new Option("-o, --output <format>", "yaml documents, or a line of json for each change")
        .choices(["yaml", "json"])
        .default("yaml"),
    )
    .addOption(
      new Option("--refresh-delay <duration>", "with --rest: from one answer to the next poll")
        .argParser((text: string) => readDuration("--refresh-delay", text))
        .default(1000, "1s"),
    )
    .option("--show-secrets", "print private keys and passwords too")
    .action((type: string, names: readonly string[], flags: WatchFlags) =>
      context.performUntilInterrupted(() => watch(type, names, flags, context)),
    );
  addExamples(command, [
    ["xds watch eds", "endpoints as they come and go"],
    ["xds watch cds --sotw -o json | jq .name", "names of clusters, in State of the World"],
    ["xds watch cds --file /etc/envoy/xds/cds.yaml", "what an Envoy reads from a file, as it changes"],
  ]);
};

/** A line of `--output json`. */
export type WatchLine =
  | {
      readonly event: "put";
      readonly type: string;
      readonly name: string;
      readonly version: string;
      readonly resource: unknown;
    }
  | { readonly event: "removed"; readonly type: string; readonly name: string };

async function watch(
  type: string,
  names: readonly string[],
  flags: WatchFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  const api = await loadApi(descriptorFilesOf(flags, io));
  const typeUrl = typeNamed(type, flags.v2 === true ? "v2" : "v3", api);
  const transport = await chooseTransport(flags, api, io);
  const meant = names.filter((name) => api.typeNamed(name) !== undefined);
  if (meant.length > 0) {
    io.stderr.write(`xds: watching ${type} named ${meant.join(", ")}; for each other type, run a watch of its own\n`);
  }
  const held = new HeldResources(api, typeUrl);
  let retryMs = FIRST_RETRY_MS;
  for (let isFirst = true; !io.interrupted.aborted; isFirst = false) {
    const wasAnswered = await followOnce({ api, transport, typeUrl, names, flags, held, isFirst }, context);
    if (io.interrupted.aborted) break;
    retryMs = wasAnswered ? FIRST_RETRY_MS : Math.min(LONGEST_RETRY_MS, retryMs * 2);
    await sleep(retryMs, undefined, { signal: io.interrupted }).catch(() => undefined); // interrupted: seen above
  }
  return exitCode.interrupted;
}

interface Following {
  readonly api: EnvoyApi;
  readonly transport: Transport;
  readonly typeUrl: TypeUrl;
  readonly names: readonly string[];
  readonly flags: WatchFlags;
  readonly held: HeldResources;
  /** What goes wrong at the start is the caller's to mend; later it is waited for. */
  readonly isFirst: boolean;
}

/** Follows one subscription to its end; whether there was an answer. */
async function followOnce(following: Following, context: CommandContext): Promise<boolean> {
  const { transport, isFirst } = following;
  const { io } = context;
  try {
    const connection = await transport.connect();
    const close = (): void => void connection.close();
    io.interrupted.addEventListener("abort", close);
    try {
      return await followConnection(connection, following, context);
    } finally {
      io.interrupted.removeEventListener("abort", close);
      await connection.close();
    }
  } catch (cause) {
    if (io.interrupted.aborted && cause instanceof CommandError) return false;
    if (isFirst || !(cause instanceof CommandError)) throw cause;
    io.stderr.write(`xds: ${cause.message}, trying again\n`);
    return false;
  }
}

async function followConnection(
  connection: Connection,
  following: Following,
  context: CommandContext,
): Promise<boolean> {
  const { typeUrl: type, names, held, isFirst } = following;
  const { io } = context;
  const subscription = connection.subscribe({ type, names, held });
  let wasAnswered = false;
  for await (const answer of subscription.answers) {
    wasAnswered = true;
    print(answer, following, context);
  }
  const ending = await subscription.ending;
  if (io.interrupted.aborted) return wasAnswered;
  if (isFirst && !wasAnswered) throw failure(ending);
  io.stderr.write(`xds: ${ending.reason}, trying again\n`);
  return wasAnswered;
}

function print(answer: Answer, { api, typeUrl, flags }: Following, { io, colorsOf }: CommandContext): void {
  const format = { api, showsSecrets: flags.showSecrets === true };
  if (flags.output === "json") {
    for (const resource of answer.puts) {
      const { type, name, version } = resource;
      const line: WatchLine = { event: "put", type, name, version, resource: resourceValue(resource, format) };
      io.stdout.write(formatJsonLine(line));
    }
    for (const name of answer.removed) {
      const line: WatchLine = { event: "removed", type: typeUrl, name };
      io.stdout.write(formatJsonLine(line));
    }
    return;
  }
  const colors = colorsOf(io.stdout);
  const at = io.now().toISOString();
  for (const resource of answer.puts) {
    io.stdout.write(colors.green(`# ${at} ${oneLine(resource.name)} version ${resource.version}`));
    io.stdout.write(`\n${formatYaml(resourceValue(resource, format))}`);
  }
  for (const name of answer.removed) {
    const says = answer.absent.includes(name) ? "is not there" : "removed";
    io.stdout.write(`${colors.red(`# ${at} ${oneLine(name)} ${says}`)}\n`);
  }
}

/** A name in a comment stays in it. */
function oneLine(name: string): string {
  return JSON.stringify(name).slice(1, -1);
}
