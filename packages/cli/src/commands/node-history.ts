import type { NodeHistoryAnswer, NodePastAnswer } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatAge } from "../output/age.ts";
import { formatJson } from "../output/json.ts";
import { oneLine } from "../output/one-line.ts";
import { formatTable } from "../output/table.ts";
import { askAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import { askInPages } from "./ask-in-pages.ts";
import type { CommandContext } from "./context.ts";
import { readCount } from "./read-count.ts";
import { countChanges, describeKind, describeWhy } from "./revision-words.ts";

export interface NodeHistoryFlags extends AdminFlags {
  readonly limit: string;
  readonly before?: string;
  readonly at?: string;
  readonly output: "table" | "json";
}

/** What a node had, newest first. */
export async function nodeHistory(node: string, flags: NodeHistoryFlags, context: CommandContext): Promise<ExitCode> {
  const { io, colorsOf } = context;
  const { at, before, output } = flags;
  if (before !== undefined) throw new CommandError(exitCode.usage, "--before does not go with --node: --at does");
  const path = `/api/v1/nodes/${encodeURIComponent(node)}/history`;
  const answer = await askInPages<NodeHistoryAnswer>(
    readCount("--limit", flags.limit, { least: 1 }),
    (page) => askAdmin(path, { ...page, at }, flags, io),
    (soFar, page) => ({ ...page, items: [...soFar.items, ...page.items] }),
  );
  const { items, total } = answer;
  if (output === "json") io.stdout.write(formatJson(answer));
  else if (items.length === 0)
    io.stderr.write(`xds: nothing is recorded of node ${node}${at === undefined ? "" : " at that time"}\n`);
  else {
    const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
    io.stdout.write(
      formatTable<NodePastAnswer>(
        items,
        [
          { title: "NUMBER", text: ({ number }) => `${number}` },
          { title: "SINCE", text: ({ time }) => time },
          { title: "AGE", text: ({ time }) => formatAge(time, io.now()) },
          { title: "KIND", text: ({ revision }) => (revision === undefined ? "(not kept)" : describeKind(revision)) },
          { title: "BY", text: ({ revision }) => revision?.author ?? revision?.writer ?? "" },
          { title: "CHANGES", text: ({ revision }) => (revision === undefined ? "" : countChanges(revision)) },
          { title: "MESSAGE", text: describeItem },
        ],
        { colors: colorsOf(io.stdout), width },
      ),
    );
    if (total > items.length) io.stdout.write(`and ${total - items.length} more: --limit ${total}\n`);
  }
  return items.length === 0 ? exitCode.problems : exitCode.ok;
}

/** Why it was changed, or why the node NACKed it. */
function describeItem({ nacked, revision }: NodePastAnswer): string {
  if (nacked !== undefined) return oneLine(`NACKed ${nacked.shortName ?? nacked.type}: ${nacked.reason}`);
  return revision === undefined ? "" : describeWhy(revision);
}
