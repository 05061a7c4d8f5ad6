import type { RevisionAnswer, RevisionsAnswer, ServerAnswer } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatAge } from "../output/age.ts";
import { formatJson } from "../output/json.ts";
import { oneLine } from "../output/one-line.ts";
import { formatTable } from "../output/table.ts";
import { askAdmin } from "./admin-request.ts";
import { LARGEST_PAGE } from "./ask-in-pages.ts";
import type { CommandContext } from "./context.ts";
import { type NodeHistoryFlags, nodeHistory } from "./node-history.ts";
import { readCount } from "./read-count.ts";
import { countChanges, describeKind, describeWhy, kindColor } from "./revision-words.ts";

export interface HistoryFlags extends NodeHistoryFlags {
  readonly node?: string;
}

export async function history(flags: HistoryFlags, context: CommandContext): Promise<ExitCode> {
  const { node, at } = flags;
  if (node === undefined && at !== undefined) throw new CommandError(exitCode.usage, "--at goes with --node");
  const code = await (node === undefined ? wholeHistory(flags, context) : nodeHistory(node, flags, context));
  if (flags.output === "table") await tellWhatIsLeftOut(flags, context);
  return code;
}

/** A server that cannot use the ledger of its state directory has begun a history of its own. */
async function tellWhatIsLeftOut(flags: HistoryFlags, { io }: CommandContext): Promise<void> {
  const { ledger } = await askAdmin<ServerAnswer>("/api/v1/server", {}, flags, io);
  if (ledger?.inMemoryReason === undefined) return;
  io.stderr.write(
    `xds: only since the start of the server, without what is on disk: ${oneLine(ledger.inMemoryReason)}\n`,
  );
}

async function wholeHistory(flags: HistoryFlags, { io, colorsOf }: CommandContext): Promise<ExitCode> {
  const { before, output } = flags;
  const limit = readCount("--limit", flags.limit, { least: 1, most: LARGEST_PAGE });
  if (before !== undefined) readCount("--before", before);
  const query = { limit: `${limit}`, before };
  const answer = await askAdmin<RevisionsAnswer>("/api/v1/revisions", query, flags, io);
  if (output === "json") io.stdout.write(formatJson(answer));
  else if (answer.items.length === 0) io.stderr.write("xds: nothing was published\n");
  else {
    const colors = colorsOf(io.stdout);
    const table = formatTable<RevisionAnswer>(
      answer.items,
      [
        { title: "NUMBER", text: ({ number }) => `${number}` },
        { title: "AGE", text: ({ time }) => formatAge(time, io.now()) },
        { title: "KIND", text: describeKind, color: (text, { kind }) => kindColor(kind, colors)(text) },
        { title: "BY", text: ({ author, writer = "" }) => author ?? writer },
        { title: "CHANGES", text: countChanges },
        { title: "MESSAGE", text: describeWhy },
      ],
      { colors, width: io.stdout.isTerminal ? io.stdout.columns : undefined },
    );
    io.stdout.write(table);
    if (answer.next !== undefined) io.stdout.write(`older: --before ${answer.next}\n`);
  }
  return exitCode.ok;
}
