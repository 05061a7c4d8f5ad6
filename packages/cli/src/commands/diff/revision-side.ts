import type { ChangeAnswer, DifferenceAnswer, RevisionDetailAnswer, ServerAnswer } from "@xdskit/server";
import { CommandError, exitCode } from "../../exit-code.ts";
import type { Io } from "../../io.ts";
import { askAdmin } from "../admin-request.ts";
import type { AdminFlags } from "../admin-server.ts";
import { askInPages } from "../ask-in-pages.ts";
import type { DiffItem } from "./compare.ts";

/** How often the state is read again if something is published meanwhile. */
const ATTEMPTS = 3;

/** How the state in force is read. */
export interface RevisionReader {
  readonly flags: AdminFlags;
  readonly io: Io;
  readonly readInForce: () => Promise<readonly DiffItem[]>;
}

/** Whether a side is a number of the ledger, `head`, or `held`. */
export function isRevision(given: string): boolean {
  return /^(?:\d{1,15}|head|held)$/.test(given);
}

/** The resources at a number, with the live data of now; `held`: as they would be if the held change were approved. */
export async function readRevisionSide(given: string, reader: RevisionReader): Promise<readonly DiffItem[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { number, held } = await ledgerOf(reader);
    const items = await reader.readInForce();
    const changes = given === "head" ? [] : await changesTo(given, { number, held }, reader);
    if ((await ledgerOf(reader)).number === number) return withChanges(items, changes);
  }
  throw new CommandError(exitCode.problems, "the server publishes too often to read one state", "try again");
}

async function ledgerOf({ flags, io }: RevisionReader): Promise<{ readonly number: number; readonly held?: number }> {
  const { ledger } = await askAdmin<ServerAnswer>("/api/v1/server", {}, flags, io);
  if (ledger === undefined) throw new CommandError(exitCode.problems, "this server keeps no history");
  return { number: ledger.number, ...(ledger.held !== undefined && { held: ledger.held.number }) };
}

/** What differs from what is in force. */
async function changesTo(
  given: string,
  { number, held }: { readonly number: number; readonly held: number | undefined },
  reader: RevisionReader,
): Promise<readonly ChangeAnswer[]> {
  if (given !== "held") return pages("/api/v1/diff", { from: `${number}`, to: given }, reader);
  if (held === undefined) throw new CommandError(exitCode.problems, "nothing is held");
  return pages(`/api/v1/revisions/${held}`, {}, reader);
}

async function pages(
  path: string,
  query: Readonly<Record<string, string>>,
  { flags, io }: RevisionReader,
): Promise<readonly ChangeAnswer[]> {
  const { changes } = await askInPages<DifferenceAnswer | RevisionDetailAnswer>(
    Number.POSITIVE_INFINITY,
    (page) => askAdmin(path, { ...query, ...page, body: "true", "field-names": "proto" }, flags, io),
    (soFar, page) => ({ ...page, changes: [...soFar.changes, ...page.changes] }),
  );
  return changes;
}

/** Items after changes. */
function withChanges(items: readonly DiffItem[], changes: readonly ChangeAnswer[]): readonly DiffItem[] {
  const keyOf = ({ layer, type, name }: Pick<DiffItem, "layer" | "type" | "name">): string =>
    JSON.stringify([layer, type, name]);
  const after = new Map(items.map((item) => [keyOf(item), item]));
  for (const { layer, type, name, after: content } of changes) {
    const key = keyOf({ layer, type, name });
    if (content === undefined) after.delete(key);
    else after.set(key, { layer, type, name, version: content.version, value: content.body });
  }
  return [...after.values()];
}
