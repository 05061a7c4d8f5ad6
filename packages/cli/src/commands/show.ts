import type { DifferenceAnswer, RevisionDetailAnswer } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatAge } from "../output/age.ts";
import type { Colors } from "../output/color.ts";
import { formatJson } from "../output/json.ts";
import { askAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import { askInPages } from "./ask-in-pages.ts";
import type { CommandContext } from "./context.ts";
import { formatChanges } from "./format-changes.ts";
import { readCount } from "./read-count.ts";
import { describeGit } from "./revision-words.ts";

export interface ShowFlags extends AdminFlags {
  readonly limit: string;
  readonly output: "text" | "json";
}

const REVISION = /^(?:(?<from>\d{1,15})\.\.)?(?<number>\d{1,15}|head)$/;

export async function show(revision: string, flags: ShowFlags, { io, colorsOf }: CommandContext): Promise<ExitCode> {
  const { from, number } = REVISION.exec(revision)?.groups ?? {};
  if (number === undefined)
    throw new CommandError(exitCode.usage, `expected a number, head, or two numbers as 12..15, got "${revision}"`);
  const { output } = flags;
  const limit = readCount("--limit", flags.limit, { least: 1 });
  const answer =
    from === undefined
      ? await askInPages<RevisionDetailAnswer>(
          limit,
          (page, soFar) => askAdmin(`/api/v1/revisions/${soFar?.number ?? number}`, page, flags, io),
          withChanges,
        )
      : await askInPages<DifferenceAnswer>(
          limit,
          (page, soFar) => askAdmin("/api/v1/diff", { from, to: `${soFar?.to ?? number}`, ...page }, flags, io),
          withChanges,
        );
  if (output === "json") {
    io.stdout.write(formatJson(answer));
    return exitCode.ok;
  }
  const colors = colorsOf(io.stdout);
  const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
  if ("number" in answer) io.stdout.write(describeRevision(answer, colors, io.now()));
  const { changes, total } = answer;
  if (changes.length > 0) io.stdout.write(formatChanges(changes, { colors, width }));
  if (total > changes.length) io.stdout.write(`and ${total - changes.length} more: --limit ${total}\n`);
  if (total === 0) io.stdout.write("no resource is different\n");
  return exitCode.ok;
}

function withChanges<T extends DifferenceAnswer | RevisionDetailAnswer>(soFar: T, page: T): T {
  return { ...page, changes: [...soFar.changes, ...page.changes] };
}

function describeRevision(revision: RevisionDetailAnswer, colors: Colors, now: Date): string {
  const { number, kind, time, author, message, writer, git, of, to, placement, fuses = [] } = revision;
  const facts: readonly (readonly [string, string | undefined])[] = [
    [kind, `${number}`],
    ["at", `${time} (${formatAge(time, now)} ago)`],
    ["by", author],
    ["from", [writer, git && describeGit(git)].filter(Boolean).join(", ")],
    ["decides", of === undefined ? undefined : `on ${of}`],
    ["back to", to === undefined ? undefined : `${to}`],
    ["message", message],
    ["mapping", placement ? "groups, client overrides or access rules change" : undefined],
    ...fuses.map((fuse) => ["held by", `${fuse.fuse}: ${fuse.message}`] as const),
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${colors.bold(name.padEnd(11))} ${value}\n`],
  );
  return `${lines.join("")}\n`;
}
