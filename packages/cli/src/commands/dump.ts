import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Dangling, type MeshSnapshot, XdsClientError } from "@xdskit/client";
import { makeDirectory } from "@xdskit/disk";
import type { EnvoyApi, ResponseFormat } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import type { Refusal } from "../discovery/answers.ts";
import { type ConnectionFlags, descriptorFilesOf } from "../discovery/connection-flags.ts";
import { failureOf, unreachableFailure } from "../discovery/connection-hint.ts";
import { describeStatus } from "../discovery/describe-status.ts";
import { type Followed, followMesh } from "../discovery/follow-mesh.ts";
import { danglingWords, describeProgress, overruledWords, shortNameOf } from "../discovery/mesh-words.ts";
import { openClient } from "../discovery/open-client.ts";
import { rootsOf } from "../discovery/roots.ts";
import { startOf } from "../discovery/start.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import type { Output } from "../io.ts";
import { formatJson } from "../output/json.ts";
import { oneLine } from "../output/one-line.ts";
import { plural } from "../output/problems.ts";
import { shownPath } from "../output/shown-path.ts";
import { createStatusLine } from "../output/status-line.ts";
import { formatTable } from "../output/table.ts";
import { writeOutputFile } from "../output-file.ts";
import { loadApi } from "../settings/load-api.ts";
import type { CommandContext } from "./context.ts";
import { contentsOf, type DumpContents, type DumpedType } from "./dump/contents.ts";

export interface DumpFlags extends ConnectionFlags {
  readonly output: string;
  readonly format: ResponseFormat;
  readonly summary: "text" | "json";
  readonly force?: boolean;
  readonly timeout: number;
  readonly wait?: boolean;
  readonly showSecrets?: boolean;
}

/** What `--summary json` prints. */
export interface DumpAnswer {
  /** Every requested resource arrived. */
  readonly ok: boolean;
  readonly types: readonly {
    readonly type: string;
    readonly name: string;
    readonly resources: number;
    readonly bytes: number;
    readonly file: string;
  }[];
  readonly dangling: readonly Dangling[];
  readonly refused: readonly { readonly type: string; readonly version: string; readonly reason: string }[];
  readonly notes: readonly string[];
}

export async function dump(targets: readonly string[], flags: DumpFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  const directory = flags.output === "-" ? undefined : resolve(io.cwd, flags.output);
  if (directory === undefined && flags.format === "pb") {
    throw new CommandError(exitCode.usage, "--format pb is not for standard output", "say a directory: -o DIR");
  }
  if (directory !== undefined && flags.force !== true) await refuseIfFull(directory, flags.output);
  const api = await loadApi(descriptorFilesOf(flags, io));
  const timeoutMs = flags.wait === true ? undefined : flags.timeout;
  const start = await startOf(flags, io);
  const { client, answers, asked } = await openClient(start, flags, {
    api,
    io,
    ...(timeoutMs !== undefined && { timeoutMs: Math.ceil(timeoutMs * GIVES_UP_AFTER) }),
  });
  const line = createStatusLine(io);
  try {
    const progress = (snapshot: MeshSnapshot): void => line.update(() => describeProgress(snapshot, api));
    const roots = rootsOf(client.config, targets, start.asked.by === "bootstrap" ? "the bootstrap" : undefined);
    const followed = await followMesh(client, answers, { roots, timeoutMs, interrupted: io.interrupted, progress });
    line.clear();
    if (io.interrupted.aborted) return exitCode.interrupted;
    const { snapshot } = followed;
    if (snapshot === undefined) throw unreachableFailure(followed.unanswered, asked);
    const contents = contentsOf(snapshot, { api, format: flags.format, showsSecrets: flags.showSecrets === true });
    if (directory !== undefined) refuseIfRedacted(contents.redacted);
    if (directory === undefined) for (const { content } of contents.types) printContent(content, io.stdout, flags);
    else await write(contents.types, directory, flags).catch((cause: unknown) => failToWrite(cause, flags.output));
    return report({ contents, followed, snapshot, refusals: answers.refusals }, { api, flags }, context);
  } catch (cause) {
    line.clear();
    throw cause instanceof XdsClientError ? failureOf(cause, asked) : cause;
  } finally {
    await client.close();
  }
}

/**
 * The initial fetch timeout as a share of `--timeout`: a name without a response counts as missing before the command
 * times out.
 */
const GIVES_UP_AFTER = 0.75;

/** What is written is for serving, and clients must not be given "[redacted]" for a key. */
function refuseIfRedacted(redacted: readonly string[]): void {
  const [first, ...others] = redacted;
  if (first === undefined) return;
  const more =
    others.length === 0 ? "holds secrets, which" : `and ${plural(others.length, "other")} hold secrets, which`;
  throw new CommandError(
    exitCode.problems,
    `${first} ${more} would be served as "[redacted]": nothing is written`,
    "--show-secrets writes them, to files readable only by you; -o - prints them redacted",
  );
}

async function refuseIfFull(directory: string, shown: string): Promise<void> {
  const entries = await readdir(directory).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return [];
    if (cause.code === "ENOTDIR") throw new CommandError(exitCode.usage, `${shown} is not a directory`);
    throw new CommandError(exitCode.usage, `${shown} cannot be read: ${cause.code}`);
  });
  if (entries.length === 0) return;
  throw new CommandError(exitCode.usage, `${shown} is not empty`, "say another directory, or --force");
}

function failToWrite(cause: unknown, shown: string): never {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  // An error without a system error code is a bug.
  if (typeof code !== "string") throw cause;
  const why = code === "EEXIST" || code === "ENOTDIR" ? "it is not a directory" : code;
  throw new CommandError(exitCode.problems, `${shown} cannot be written to: ${why}`);
}

function fileOf({ name }: Pick<DumpedType, "name">, format: ResponseFormat): string {
  return `${name}.${format}`;
}

async function write(types: readonly DumpedType[], directory: string, flags: DumpFlags): Promise<void> {
  if (types.length > 0) makeDirectory(directory);
  const mode = flags.showSecrets === true ? 0o600 : 0o666;
  const written = new Set<string>();
  for (const one of types) {
    const file = fileOf(one, flags.format);
    await writeOutputFile(join(directory, file), mode, (writePart) => writePart(one.content));
    written.add(file);
  }
  if (flags.force !== true || !existsSync(directory)) return;
  const old = /^[a-z]+ds\.(yaml|json|pb|pb_text)$/;
  for (const file of await readdir(directory)) {
    if (old.test(file) && !written.has(file)) await rm(join(directory, file));
  }
}

function printContent(content: Uint8Array, output: Output, { format }: DumpFlags): void {
  if (format === "yaml") output.write("---\n");
  output.write(Buffer.from(content).toString("utf8"));
}

interface Outcome {
  readonly contents: DumpContents;
  readonly followed: Followed;
  readonly snapshot: MeshSnapshot;
  readonly refusals: readonly Refusal[];
}

function report(
  { contents, followed, snapshot, refusals }: Outcome,
  { api, flags }: { readonly api: EnvoyApi; readonly flags: DumpFlags },
  context: CommandContext,
): ExitCode {
  const { io } = context;
  const { dangling } = snapshot;
  const { isComplete, isLate, unanswered, overruled } = followed;
  const say = (text: string): void => io.stderr.write(`xds: ${oneLine(text)}\n`);
  const isOk = isComplete && [dangling, refusals, unanswered].every((all) => all.length === 0);
  const shown = (type: TypeUrl): string => shortNameOf(type, api);
  for (const { from, to, why } of dangling) {
    const needed = from === undefined ? "" : `, which ${shown(from.type)} ${from.name} needs`;
    say(`${shown(to.type)} ${to.name}${needed}: ${danglingWords[why]}`);
  }
  for (const { type, version, error } of refusals) {
    say(`rejected ${shown(type)}${version === "" ? "" : ` ${version}`}: ${error}`);
  }
  for (const { type, error } of unanswered) {
    const why = error === undefined ? "" : `: ${describeStatus(error)}`;
    say(`${shown(type)}: asked for, and never answered${why}`);
  }
  const { types } = contents;
  // A client with this bootstrap does not use it, and what it refers to was not requested.
  const leftOut = overruled.map(({ type, name }) => `${shown(type)} ${name} is left out: ${overruledWords}`);
  const notes = [...contents.notes, ...leftOut];
  for (const note of notes) say(note);
  if (isLate) say("the time was over before everything was there; --wait has more of it");
  summarize({ types, dangling, refusals, notes, isOk }, flags, context);
  return isOk ? exitCode.ok : exitCode.problems;
}

interface Summary {
  readonly types: readonly DumpedType[];
  readonly dangling: readonly Dangling[];
  readonly refusals: readonly Refusal[];
  readonly notes: readonly string[];
  readonly isOk: boolean;
}

function summarize(
  { types, dangling, refusals, notes, isOk }: Summary,
  flags: DumpFlags,
  context: CommandContext,
): void {
  const { io, colorsOf } = context;
  const isToStdout = flags.output === "-";
  // With the resources on stdout, the summary is for a person at a terminal only.
  const output = isToStdout ? io.stderr : io.stdout;
  if (flags.summary === "text" || isToStdout) {
    if (isToStdout && !output.isTerminal) return;
    const columns = [
      { title: "TYPE", text: (row: DumpedType) => row.name },
      { title: "RESOURCES", text: (row: DumpedType) => `${row.resources}` },
      { title: "BYTES", text: (row: DumpedType) => `${row.bytes}` },
      ...(isToStdout ? [] : [{ title: "FILE", text: (row: DumpedType) => fileOf(row, flags.format) }]),
    ];
    output.write(
      formatTable(types, columns, { colors: colorsOf(output), width: output.isTerminal ? output.columns : undefined }),
    );
    const total = types.reduce((sum, { resources }) => sum + resources, 0);
    const where = isToStdout ? "" : ` in ${shownPath(resolve(io.cwd, flags.output), io.cwd)}`;
    output.write(`${plural(total, "resource")}${where}\n`);
  } else {
    const answer: DumpAnswer = {
      ok: isOk,
      types: types.map((one) => {
        const { type, name, resources, bytes } = one;
        return { type, name, resources, bytes, file: fileOf(one, flags.format) };
      }),
      dangling,
      refused: refusals.map(({ type, version, error }) => ({ type, version, reason: error })),
      notes,
    };
    output.write(formatJson(answer));
  }
}
