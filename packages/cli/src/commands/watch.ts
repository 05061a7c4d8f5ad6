import { setTimeout as sleep } from "node:timers/promises";
import type { WirePeer } from "@xdskit/conformance";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import { Option } from "commander";
import {
  addConnectionFlags,
  type ConnectionFlags,
  connectServer,
  descriptorFilesOf,
  nodeOf,
  serverOf,
} from "../discovery/connection.ts";
import { type Answer, HeldResources } from "../discovery/held.ts";
import { formatYaml, resourceValue } from "../discovery/resource-value.ts";
import { subscribe } from "../discovery/subscription.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatJsonLine } from "../output/json.ts";
import { loadApi } from "../settings/load-api.ts";
import { type AddCommand, addExamples, type CommandContext } from "./context.ts";
import { addTypeArguments, refusal, typeNamed } from "./get.ts";
import { describeStatus } from "./status.ts";

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
    .description("Follow resources of any xDS server: what there is, then every change. Comes back after a break.");
  addTypeArguments(command);
  addConnectionFlags(command)
    .addOption(
      new Option("-o, --output <format>", "yaml documents, or a line of json for each change")
        .choices(["yaml", "json"])
        .default("yaml"),
    )
    .option("--show-secrets", "print private keys and passwords too")
    .action((type: string, names: readonly string[], flags: WatchFlags) =>
      context.performUntilInterrupted(() => watch(type, names, flags, context)),
    );
  addExamples(command, [
    ["xds watch eds", "endpoints as they come and go"],
    ["xds watch cds --sotw -o json | jq .name", "names of clusters, in State of the World"],
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
  const typeUrl = typeNamed(type, api);
  const meant = names.filter((name) => api.typeNamed(name) !== undefined);
  if (meant.length > 0) {
    io.stderr.write(`xds: watching ${type} named ${meant.join(", ")}; for each other type, run a watch of its own\n`);
  }
  const held = new HeldResources(api, typeUrl, flags.sotw === true ? "sotw" : "delta");
  let retryMs = FIRST_RETRY_MS;
  for (let isFirst = true; !io.interrupted.aborted; isFirst = false) {
    const wasAnswered = await followOnce({ api, typeUrl, names, flags, held, isFirst }, context);
    if (io.interrupted.aborted) break;
    retryMs = wasAnswered ? FIRST_RETRY_MS : Math.min(LONGEST_RETRY_MS, retryMs * 2);
    await sleep(retryMs, undefined, { signal: io.interrupted }).catch(() => undefined); // interrupted: seen above
  }
  return exitCode.interrupted;
}

interface Following {
  readonly api: EnvoyApi;
  readonly typeUrl: TypeUrl;
  readonly names: readonly string[];
  readonly flags: WatchFlags;
  readonly held: HeldResources;
  /** What goes wrong at the start is the caller's to mend; later it is waited for. */
  readonly isFirst: boolean;
}

/** Follows one stream to its end; whether there was an answer on it. */
async function followOnce(following: Following, context: CommandContext): Promise<boolean> {
  const { flags, isFirst } = following;
  const { io } = context;
  try {
    const peer = await connectServer(flags, io);
    const close = (): void => void peer.close();
    io.interrupted.addEventListener("abort", close);
    try {
      return await followPeer(peer, following, context);
    } finally {
      io.interrupted.removeEventListener("abort", close);
      await peer.close();
    }
  } catch (cause) {
    if (io.interrupted.aborted && cause instanceof CommandError) return false;
    if (isFirst || !(cause instanceof CommandError)) throw cause;
    io.stderr.write(`xds: ${cause.message}, trying again\n`);
    return false;
  }
}

async function followPeer(peer: WirePeer, following: Following, context: CommandContext): Promise<boolean> {
  const { api, typeUrl: type, names, flags, held, isFirst } = following;
  const { io } = context;
  const variant = flags.sotw === true ? "sotw" : "delta";
  const isPerType = flags.perType === true;
  const subscription = subscribe(peer, { api, type, names, node: nodeOf(flags), variant, isPerType, held });
  let wasAnswered = false;
  for await (const answer of subscription.answers) {
    wasAnswered = true;
    print(answer, following, context);
  }
  const status = await subscription.status;
  if (io.interrupted.aborted) return wasAnswered;
  if (isFirst && !wasAnswered) throw refusal(serverOf(flags, io), status);
  io.stderr.write(`xds: the stream ended (${describeStatus(status)}), connecting again\n`);
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
