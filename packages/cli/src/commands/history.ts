import type { RevisionAnswer, RevisionsAnswer } from "@xdskit/server";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { formatAge } from "../output/age.ts";
import { formatJson } from "../output/json.ts";
import { formatTable } from "../output/table.ts";
import { askAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";
import { countChanges, describeGit, kindColor } from "./revision-words.ts";

export interface HistoryFlags extends AdminFlags {
  readonly limit: string;
  readonly before?: string;
  readonly output: "table" | "json";
}

export async function history(flags: HistoryFlags, { io, colorsOf }: CommandContext): Promise<ExitCode> {
  const { limit, before, output } = flags;
  const answer = await askAdmin<RevisionsAnswer>("/api/v1/revisions", { limit, before }, flags, io);
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
        { title: "MESSAGE", text: whyOf },
      ],
      { colors, width: io.stdout.isTerminal ? io.stdout.columns : undefined },
    );
    io.stdout.write(table);
    if (answer.next !== undefined) io.stdout.write(`older: --before ${answer.next}\n`);
  }
  return exitCode.ok;
}

function describeKind({ kind, of, to }: RevisionAnswer): string {
  if (of !== undefined) return `${kind} ${of}`;
  return to === undefined ? kind : `${kind} to ${to}`;
}

function whyOf({ message, git, fuses = [] }: RevisionAnswer): string {
  return [message, git && describeGit(git), ...fuses.map((fuse) => fuse.message)].filter(Boolean).join("; ");
}
