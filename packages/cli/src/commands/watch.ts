import { type Change, type Watch, XdsClientError, type XdsResource } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { type ConnectionFlags, descriptorFilesOf } from "../discovery/connection-flags.ts";
import { describeError, failureOf } from "../discovery/connection-hint.ts";
import { type OpenedClient, openClient, wantedType } from "../discovery/open-client.ts";
import { OutageWords } from "../discovery/outage-words.ts";
import { formatYaml, resourceValue, unreadableNote } from "../discovery/resource-value.ts";
import { startOf } from "../discovery/start.ts";
import { requireNames } from "../discovery/type-named.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { aborted } from "../interruption.ts";
import { formatJsonLine } from "../output/json.ts";
import { oneLine } from "../output/one-line.ts";
import { loadApi } from "../settings/load-api.ts";
import { STANDARD_INPUT } from "../standard-input.ts";
import type { CommandContext } from "./context.ts";

export interface WatchFlags extends ConnectionFlags {
  readonly output: "yaml" | "json";
  readonly showSecrets?: boolean;
}

/** A line of `--output json`. */
export type WatchLine =
  | {
      readonly event: "put";
      readonly type: string;
      readonly name: string;
      readonly version: string;
      readonly resource: unknown;
    }
  /** `removed`: it existed; `does-not-exist`: it never did; `expired`: its TTL ran out. */
  | {
      readonly event: "removed";
      readonly type: string;
      readonly name: string;
      readonly reason: "removed" | "does-not-exist" | "expired";
    }
  /**
   * An update was rejected, the server reports an error, or no server can be reached (once for each reason). Earlier
   * resources stay in force.
   */
  | {
      readonly event: "error";
      readonly type: string;
      /** Missing if it concerns the whole type. */
      readonly name?: string;
      readonly code: string;
      readonly message: string;
    }
  /** A server can be reached again. */
  | { readonly event: "recovered"; readonly type: string };

export async function watch(
  type: string,
  names: readonly string[],
  flags: WatchFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  if (flags.file === STANDARD_INPUT) {
    throw new CommandError(exitCode.usage, "standard input does not change", "xds get --file - reads it");
  }
  requireNames(names);
  const api = await loadApi(descriptorFilesOf(flags, io));
  const start = await startOf(flags, io);
  const wanted = wantedType(type, start, flags, api);
  const opened = await openClient(start, flags, { api, io });
  const { client, answers, asked } = opened;
  const meant = names.filter((name) => api.typeNamed(name) !== undefined);
  if (meant.length > 0) {
    io.stderr.write(`xds: watching ${type} named ${meant.join(", ")}; for each other type, run a watch of its own\n`);
  }
  const outage = new OutageWords(io.stderr, asked);
  answers.broken = ({ status }) => {
    if (answers.isAnswered) outage.broke(status);
  };
  answers.heard = () => outage.isOver();
  const typeUrl = typeof wanted === "string" ? wanted : wanted.typeUrl;
  const following = { ...opened, api, flags, type: typeUrl, outage, toldOutages: new Set<string>() };
  try {
    const watches = (names.length === 0 ? [undefined] : names).map((name) => client.watch(wanted, name));
    await Promise.race([aborted(io.interrupted), ...watches.map((one) => follow(one, following, context))]);
    return exitCode.interrupted;
  } catch (cause) {
    if (io.interrupted.aborted) return exitCode.interrupted;
    throw cause instanceof XdsClientError ? failureOf(cause, asked) : cause;
  } finally {
    await client.close();
  }
}

interface Following extends OpenedClient {
  readonly api: EnvoyApi;
  readonly flags: WatchFlags;
  readonly type: string;
  readonly outage: OutageWords;
  /** Lines already printed for this outage: every watch reports it. */
  readonly toldOutages: Set<string>;
}

/**
 * Prints the changes of a watch. Rejects if no server can be reached before the first response; later the client
 * retries.
 */
async function follow(watch: Watch, following: Following, context: CommandContext): Promise<void> {
  const { answers } = following;
  for await (const change of watch) {
    const isOfConnection =
      change.kind === "error" && (change.error.code === "UNREACHABLE" || change.error.code === "TYPE_UNSUPPORTED");
    if (isOfConnection && !answers.isAnswered) throw change.error;
    if (isOfConnection) printUnreachable(change.error, following, context);
    else print(change, following, context);
  }
}

function print(change: Change, following: Following, context: CommandContext): void {
  switch (change.kind) {
    case "added":
    case "changed":
      printPut(change.resource, following, context);
      break;
    case "does-not-exist":
      printRemoved(change, following, context);
      break;
    case "error":
      printError(change, following, context);
      break;
    case "recovered":
      printRecovered(following, context);
      break;
    case "synced":
      break;
  }
}

/** Prints the outage as JSON; `OutageWords` prints it for people. */
function printUnreachable({ code, message }: XdsClientError, following: Following, { io }: CommandContext): void {
  const { flags, type, toldOutages } = following;
  if (flags.output !== "json") return;
  const line: WatchLine = { event: "error", type, code, message: oneLine(message) };
  const text = formatJsonLine(line);
  if (toldOutages.has(text)) return;
  toldOutages.add(text);
  io.stdout.write(text);
}

function printRecovered({ flags, type, outage, toldOutages }: Following, { io }: CommandContext): void {
  outage.isOver();
  if (toldOutages.size === 0) return;
  toldOutages.clear();
  const line: WatchLine = { event: "recovered", type };
  if (flags.output === "json") io.stdout.write(formatJsonLine(line));
}

function printPut(resource: XdsResource, { api, flags }: Following, { io, colorsOf }: CommandContext): void {
  const { type, key: name, version } = resource;
  const format = { api, showsSecrets: flags.showSecrets === true };
  const note = unreadableNote(resource, format);
  if (note !== undefined) io.stderr.write(`xds: ${oneLine(note)}\n`);
  const value = resourceValue(resource, format);
  if (flags.output === "json") {
    const line: WatchLine = { event: "put", type, name, version, resource: value };
    io.stdout.write(formatJsonLine(line));
    return;
  }
  io.stdout.write(colorsOf(io.stdout).green(`# ${io.now().toISOString()} ${oneLine(name)} version ${version}`));
  io.stdout.write(`\n${formatYaml(value)}`);
}

function printRemoved(
  { key: name, reason }: Extract<Change, { kind: "does-not-exist" }>,
  { flags, type }: Following,
  { io, colorsOf }: CommandContext,
): void {
  if (flags.output === "json") {
    const line: WatchLine = { event: "removed", type, name, reason };
    io.stdout.write(formatJsonLine(line));
    return;
  }
  const says = { removed: "removed", "does-not-exist": "is not there", expired: "expired" }[reason];
  io.stdout.write(`${colorsOf(io.stdout).red(`# ${io.now().toISOString()} ${oneLine(name)} ${says}`)}\n`);
}

function printError(
  { key, error, held }: Extract<Change, { kind: "error" }>,
  { flags, type, asked }: Following,
  { io }: CommandContext,
): void {
  const message = describeError(error, asked);
  const keeps = held === undefined ? "" : ", keeping what it was";
  io.stderr.write(`xds: ${message}${keeps}\n`);
  if (flags.output !== "json") return;
  const name = key === undefined ? {} : { name: key };
  const line: WatchLine = { event: "error", type, ...name, code: error.code, message };
  io.stdout.write(formatJsonLine(line));
}
