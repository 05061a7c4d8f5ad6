import { createServer, type ManagementServer, type PublishResult } from "@xdskit/server";
import { type Load, type LoadedState, type Problem, readSettings } from "@xdskit/source";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { describeLoad } from "../output/describe-load.ts";
import { formatJson } from "../output/json.ts";
import { countProblems, formatProblems, plural } from "../output/problems.ts";
import { withStatusLine } from "../output/status-line.ts";
import { fuseSettingsOf } from "../settings/fuse-settings.ts";
import { createOriginReader } from "../settings/git-origin.ts";
import { retentionOf } from "../settings/history-settings.ts";
import { mistakeInStoreUrl, openStore } from "../settings/ledger-store.ts";
import { loadApi } from "../settings/load-api.ts";
import { resolveSettings } from "../settings/resolve-settings.ts";
import { createSource } from "../settings/source.ts";
import { requireDirectory, sourcePlaceOf } from "../settings/source-place.ts";
import type { CommandContext } from "./context.ts";

export interface PublishFlags {
  readonly message?: string;
  readonly author?: string;
  readonly output: "text" | "json";
  readonly [setting: string]: unknown;
}

/** What `--output json` prints. */
export type PublishOutput =
  | { readonly kind: "source-broken"; readonly problems: readonly Problem[] }
  | (PublishResult & { readonly problems: readonly Problem[] });

/** Publishes a directory to a store. */
export async function publish(given: string, flags: PublishFlags, context: CommandContext): Promise<ExitCode> {
  const { io, colorsOf } = context;
  const place = await sourcePlaceOf(given, io.cwd, exitCode.sourceBroken);
  const { directory } = place;
  await requireDirectory(place, exitCode.sourceBroken);
  const file = await readSettings(directory);
  const { message, author, output, ...settings } = flags;
  const { values, troubles } = resolveSettings({ flags: settings, env: io.env, file, cwd: io.cwd, directory });
  if (troubles.length > 0) throw new CommandError(exitCode.usage, troubles.join("\n"));
  const url = values.text("store");
  if (url === undefined) throw new CommandError(exitCode.usage, "expected a store to publish to", "give --store");
  const mistake = mistakeInStoreUrl(url);
  if (mistake !== undefined)
    throw new CommandError(exitCode.usage, `${values.originOf("store") ?? "store"}: ${mistake.message}`, mistake.hint);
  const api = await loadApi(values.list("descriptors"));
  const source = createSource(place, values, { api, io });
  const load: Load = await withStatusLine(io, (update) =>
    source.load((progress) => update(() => describeLoad(progress))),
  );
  const { state, problems } = load;
  if (output === "text") io.stderr.write(formatProblems(problems, place.shownDirectory, colorsOf(io.stderr)));
  if (state === undefined) {
    if (output === "json") io.stdout.write(formatJson({ kind: "source-broken", problems } satisfies PublishOutput));
    throw new CommandError(exitCode.sourceBroken, `${place.shown}: ${countProblems(problems)}; nothing was published`);
  }
  const onProblem = (text: string): void => io.stderr.write(`xds: ${text}\n`);
  const store = await openStore(url, { cwd: io.cwd, env: io.env, onProblem });
  const ledger = { store, fuses: fuseSettingsOf(values), retention: retentionOf(values) };
  const server = createServer({ api, admin: false, ledger });
  try {
    const origin = await createOriginReader(directory)();
    const given = { author: author ?? origin.author, message: message ?? origin.message };
    const result = await publishTo(server, state, { ...origin, ...given });
    if (output === "json") io.stdout.write(formatJson({ ...result, problems } satisfies PublishOutput));
    else io.stdout.write(`${describeResult(result, state)}\n`);
    return exitCodes[result.kind];
  } finally {
    await server.close();
  }
}

async function publishTo(
  server: ManagementServer,
  { layers, groups, clients, access }: LoadedState,
  { author, message, git }: Awaited<ReturnType<ReturnType<typeof createOriginReader>>>,
): Promise<PublishResult> {
  try {
    return await server.publish({
      ...{ layers, placement: { groups, clients, access }, author, message },
      origin: { writer: "directory", ...(git !== undefined && { git }) },
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { kind: "unavailable", reason };
  }
}

const exitCodes: Readonly<Record<PublishResult["kind"], ExitCode>> = {
  applied: exitCode.ok,
  unchanged: exitCode.ok,
  held: exitCode.held,
  rejected: exitCode.problems,
  refused: exitCode.problems,
  standby: exitCode.problems,
  unavailable: exitCode.unreachable,
};

/** The endpoints that are held back because they became empty. */
function heldBack({ emptied = [] }: { readonly emptied?: readonly { readonly name: string }[] }): string {
  if (emptied.length === 0) return "";
  return `; no endpoints any more, held back for now: ${emptied.map(({ name }) => name).join(", ")}`;
}

function describeResult(result: PublishResult, { resources, files }: LoadedState): string {
  switch (result.kind) {
    case "applied":
      return `published as ${result.number}: ${plural(resources, "resource")} in ${plural(files, "file")}${heldBack(result)}`;
    case "unchanged":
      return `nothing to publish: ${result.number} has the same${heldBack(result)}`;
    case "held": {
      const why = result.trips.map(({ message }) => `  ${message}`).join("\n");
      return `held as ${result.number}: nothing of it is sent until it is approved (xds approve ${result.number})\n${why}`;
    }
    case "rejected":
      return `nothing was published: ${result.by} rejected the same; it is judged again once it differs`;
    case "unavailable":
      return `the store is unreachable, nothing was published: ${result.reason}`;
    default:
      return `refused, nothing was published: ${result.reason}`;
  }
}
