import { type TypeOrUrl, XdsClientError } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ResourceAnswer } from "@xdskit/server";
import { type Collected, collect } from "../discovery/collect.ts";
import { descriptorFilesOf } from "../discovery/connection-flags.ts";
import { type Asked, describeError, failureOf } from "../discovery/connection-hint.ts";
import { openClient, wantedType } from "../discovery/open-client.ts";
import { formatYaml, type ResourceFormat, resourceValue, unreadableNote } from "../discovery/resource-value.ts";
import { startOf } from "../discovery/start.ts";
import { requireNames } from "../discovery/type-named.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { oneLine } from "../output/one-line.ts";
import { plural } from "../output/problems.ts";
import { formatTable } from "../output/table.ts";
import { loadApi } from "../settings/load-api.ts";
import { type InputFile, STANDARD_INPUT, withStandardInput } from "../standard-input.ts";
import type { CommandContext } from "./context.ts";
import { type NodeResourcesFlags, resourcesOfNode } from "./node-resources.ts";

const QUIET_MS = 300;

export interface GetFlags extends NodeResourcesFlags {
  readonly output: "yaml" | "json" | "table";
  readonly timeout: number;
}

export async function get(
  type: string,
  names: readonly string[],
  flags: GetFlags,
  context: CommandContext,
): Promise<ExitCode> {
  requireNames(names);
  const ask = (input?: InputFile): Promise<ExitCode> => getFrom(input, type, names, { flags, context });
  return flags.file === STANDARD_INPUT ? withStandardInput(context.io, ask) : ask();
}

async function getFrom(
  input: InputFile | undefined,
  type: string,
  names: readonly string[],
  { flags, context }: { readonly flags: GetFlags; readonly context: CommandContext },
): Promise<ExitCode> {
  const { io } = context;
  const api = await loadApi(descriptorFilesOf(flags, io));
  const ofNode = await resourcesOfNode(type, names, { flags, api, io });
  if (ofNode !== undefined) return tellOfNode(ofNode, { type, names, flags }, context);
  const start = await startOf(flags, io, input);
  const wanted = wantedType(type, start, flags, api);
  const opened = await openClient(start, flags, { api, io, timeoutMs: flags.timeout });
  const { client, answers, asked } = opened;
  try {
    const isWhole = answersWhole(wanted, flags, api);
    const how = { names, isWhole, timeoutMs: flags.timeout, quietMs: QUIET_MS, answers };
    const collected = await collect(client, wanted, how);
    if (io.interrupted.aborted) return exitCode.interrupted;
    print(shownOf(collected, { api, showsSecrets: flags.showSecrets === true }), flags, context);
    return report(collected, { type, asked }, context);
  } catch (cause) {
    if (io.interrupted.aborted) return exitCode.interrupted;
    throw cause instanceof XdsClientError ? failureOf(cause, asked) : cause;
  } finally {
    await client.close();
  }
}

/** Whether the first response is complete, so that `get` need not wait for more. */
function answersWhole(type: TypeOrUrl, { rest, file, sotw }: GetFlags, api: EnvoyApi): boolean {
  const typeUrl = typeof type === "string" ? type : type.typeUrl;
  return rest === true || file !== undefined || (sotw === true && api.traits(typeUrl)?.isFullState === true);
}

/** A resource to print. */
interface ShownResource {
  readonly key: string;
  readonly version: string;
  readonly bytes: number;
  /** Why `value` is less than the resource. */
  readonly note: string | undefined;
  value(): unknown;
}

interface Shown {
  readonly resources: readonly ShownResource[];
  /** The version of the response. */
  readonly version: string | undefined;
}

function shownOf({ resources, version }: Collected, format: ResourceFormat): Shown {
  const shown = resources.map(
    (resource): ShownResource => ({
      key: resource.key,
      version: resource.version,
      bytes: resource.bytes.byteLength,
      note: unreadableNote(resource, format),
      value: () => resourceValue(resource, format),
    }),
  );
  return { resources: shown, version };
}

function print({ resources, version }: Shown, { output }: GetFlags, { io, colorsOf }: CommandContext): void {
  const sorted = [...resources].sort((a, b) => (a.key < b.key ? -1 : 1));
  if (output === "table") {
    const columns = [
      { title: "NAME", text: (row: ShownResource) => row.key },
      { title: "VERSION", text: (row: ShownResource) => row.version },
      { title: "BYTES", text: (row: ShownResource) => `${row.bytes}` },
    ];
    const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
    io.stdout.write(formatTable(sorted, columns, { colors: colorsOf(io.stdout), width }));
    // In delta a response has a version besides those of its resources, and it is the one that `xds nodes` shows.
    const isOther = version !== undefined && version !== "" && sorted.some((one) => one.version !== version);
    if (isOther) io.stdout.write(`${plural(sorted.length, "resource")}, response version ${version}\n`);
    return;
  }
  for (const { note } of sorted) if (note !== undefined) io.stderr.write(`xds: ${oneLine(note)}\n`);
  if (output === "json") {
    io.stdout.write(formatJson(sorted.map((resource) => resource.value())));
    return;
  }
  for (const resource of sorted) io.stdout.write(formatYaml(resource.value()));
}

/** Prints what the admin API says that a node sees. */
function tellOfNode(
  found: readonly ResourceAnswer[],
  { type, names, flags }: { readonly type: string; readonly names: readonly string[]; readonly flags: GetFlags },
  context: CommandContext,
): ExitCode {
  const { io } = context;
  const resources = found.filter(({ error }) => error === undefined);
  const shown = resources.map(({ type: typeUrl, name, constraints, version, bytes, body, problem }): ShownResource => {
    const key = constraints === undefined ? name : `${name} (${constraints})`;
    const note = problem === undefined ? undefined : `${key}: ${problem}`;
    return { key, version, bytes, note, value: () => body ?? { "@type": typeUrl, value: "[redacted]" } };
  });
  print({ resources: shown, version: undefined }, flags, context);
  for (const { name, error } of found)
    if (error !== undefined) io.stderr.write(`xds: ${oneLine(`error ${error.code} for ${name}: ${error.message}`)}\n`);
  const given = new Set(found.map(({ name }) => name));
  const missing = names.filter((name) => !given.has(name));
  for (const name of missing) io.stderr.write(`xds: this node has no resource "${name}" of type ${type}\n`);
  if (found.length === 0 && names.length === 0) io.stderr.write(`xds: this node has no resources of type ${type}\n`);
  return missing.length > 0 || resources.length < found.length || found.length === 0 ? exitCode.problems : exitCode.ok;
}

function report(
  { resources, missing, errors, isAnswered }: Collected,
  { type, asked }: { readonly type: string; readonly asked: Asked },
  { io }: CommandContext,
): ExitCode {
  if (!isAnswered) {
    // SotW servers do not respond for resources that do not exist; some do not respond for others either.
    io.stderr.write(`xds: no answer in time: the server has no such ${type} for this node, or does not say\n`);
    return exitCode.problems;
  }
  for (const error of errors) io.stderr.write(`xds: ${describeError(error, asked)}\n`);
  for (const name of missing) io.stderr.write(`xds: there is no resource "${name}" of type ${type}\n`);
  const isEmpty = resources.length === 0;
  if (missing.length === 0 && isEmpty && errors.length === 0)
    io.stderr.write(`xds: there are no resources of type ${type}\n`);
  return missing.length > 0 || errors.length > 0 || isEmpty ? exitCode.problems : exitCode.ok;
}
