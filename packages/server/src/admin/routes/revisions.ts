import { contentDigest } from "@xdskit/envoy-api";
import { type EntryChange, type FuseTrip, globMatches, type LedgerRecord } from "@xdskit/protocol/internal";
import { decodeBody } from "../../ledger/body.ts";
import { isChange, type RecordFilter } from "../../ledger/history.ts";
import type { Publisher } from "../../ledger/publisher.ts";
import type {
  ChangeAnswer,
  ContentAnswer,
  DifferenceAnswer,
  FuseAnswer,
  RevisionAnswer,
  RevisionDetailAnswer,
  RevisionsAnswer,
} from "../answers/revisions.ts";
import { type Query, QueryError } from "../query.ts";
import type { AdminSources, ParameterKind, Route } from "../route.ts";
import { errorAnswer } from "../schema/page.ts";
import { differenceAnswer, revisionAnswer, revisionsAnswer } from "../schema/revisions.ts";
import type { AdminView } from "../view.ts";

/** How many records, or changes, an answer has unless more are asked for, and at most. */
const USUAL = 50;
const MOST = 1_000;
const DECISIONS_NAMED = 20;
const KINDS = [
  ...(["revision", "live", "held", "emptied", "approved", "rejected"] as const),
  ...(["withdrawn", "rolled-back", "unpinned"] as const),
];
export const pageSize: { readonly usual: number; readonly most: number } = { usual: USUAL, most: MOST };

export const changeParameters: Readonly<Record<string, string>> = {
  limit: `maximum number of changes, at most ${MOST} (default: ${USUAL})`,
  offset: "number of changes to skip; `next` of the previous page",
  body: "true: include the resources as JSON, with secrets redacted",
  "field-names": "field names in the resources: proto, as in Envoy's files, or json (default)",
};

export const changeKinds: Readonly<Record<string, ParameterKind>> = {
  ...{ limit: "count", offset: "count", body: "flag" },
  "field-names": ["json", "proto"],
};

/** What was published and decided. */
export const revisions: Route = {
  path: "/api/v1/revisions",
  says: "what was published and decided, newest first",
  parameters: {
    limit: `maximum number of records, at most ${MOST} (default: ${USUAL})`,
    before: "only records with smaller numbers; `next` of the previous page",
    kind: `only records of this kind, may be repeated: ${KINDS.join(", ")}`,
    stable: "true: only what changed anything but live data, which are endpoints and secrets",
    author: "only records whose author matches this glob",
    resource: "only records that change a resource whose name matches this glob",
  },
  kinds: { limit: "count", before: "count", kind: "texts", stable: "flag" },
  answers: { 200: revisionsAnswer, 503: errorAnswer },
  async answer({ view }, query) {
    const ledger = requireLedger(view);
    const limit = limitOf(query);
    const before = query.count("before") ?? ledger.number + 1;
    const records = await ledger.history.newest({ before, limit, isWanted: recordFilter(query, ledger) });
    const items: RevisionAnswer[] = [];
    // One after another: a decision is described by what it was about, which is read from the store.
    for (const record of records) items.push(await describeRecord(ledger, record));
    const next = items.at(-1)?.number;
    const isMore = items.length === limit && next !== undefined && next > 1;
    const value: RevisionsAnswer = { items, head: ledger.number, ...(isMore && { next }) };
    return { kind: "json", value };
  },
};

function recordFilter(query: Query, ledger: Publisher): RecordFilter {
  const kinds = query.texts("kind");
  const unknown = [...(kinds ?? [])].find((kind) => !KINDS.some((known) => known === kind));
  if (unknown !== undefined)
    throw new QueryError(400, `kind: expected one of ${KINDS.join(", ")}, got ${JSON.stringify(unknown)}`);
  const [author, name, isStable] = [query.text("author"), query.text("resource"), query.flag("stable")];
  return async (record) => {
    if (isStable && !isChange(record)) return false;
    if (kinds !== undefined && !kinds.has(record.kind)) return false;
    if (author !== undefined && !globMatches(author, record.author ?? "")) return false;
    if (name === undefined) return true;
    return (await ledger.history.changesOf(record)).some((change) => globMatches(name, change.name));
  };
}

/** One record, with what it changes. */
export const revision: Route = {
  path: "/api/v1/revisions/{number}",
  says: "what one record changes; `head` is the newest",
  parameters: changeParameters,
  kinds: changeKinds,
  answers: { 200: revisionAnswer, 503: errorAnswer },
  async answer(sources, query) {
    const ledger = requireLedger(sources.view);
    const number = numberIn(query.text("number") ?? "", "number", ledger);
    const record = await ledger.history.record(number);
    if (record === undefined) throw new QueryError(404, `the record ${number} is not kept`, "GET /api/v1/revisions");
    const listed = await describeChanges(sources, query, ledger, await ledger.history.changesOf(record));
    const decisions: RevisionAnswer[] = [];
    for (const decision of await ledger.history.decisionsOn(record, DECISIONS_NAMED))
      decisions.push(await describeRecord(ledger, decision));
    const value: RevisionDetailAnswer = { ...(await describeRecord(ledger, record)), ...listed, decisions };
    return { kind: "json", value };
  },
};

/** What is different between two numbers. */
export const difference: Route = {
  path: "/api/v1/diff",
  says: "what is different between the states of two numbers",
  parameters: { from: "a number; 0: nothing", to: "a number (default: the newest)", ...changeParameters },
  kinds: changeKinds,
  answers: { 200: differenceAnswer, 503: errorAnswer },
  async answer(sources, query) {
    const ledger = requireLedger(sources.view);
    const from = numberIn(query.text("from") ?? "", "from", ledger);
    const to = numberIn(query.text("to") ?? "head", "to", ledger);
    const changes = await ledger.history.difference(from, to);
    if (changes === undefined)
      throw new QueryError(404, `not all records from ${from} to ${to} are kept`, "GET /api/v1/revisions");
    const value: DifferenceAnswer = { from, to, ...(await describeChanges(sources, query, ledger, changes)) };
    return { kind: "json", value };
  },
};

/** The ledger. A server without one has no history. */
export function requireLedger(view: AdminView): Publisher {
  const ledger = view.ledger();
  if (ledger === undefined) throw new QueryError(404, "this server keeps no history", "it has no ledger");
  return ledger;
}

/** Reads a number of a record, or `head`. */
export function numberIn(text: string, name: string, ledger: Publisher): number {
  if (text === "head") return ledger.number;
  if (!/^\d{1,15}$/.test(text))
    throw new QueryError(400, `${name}: expected a number or head, got ${JSON.stringify(text)}`);
  const number = Number(text);
  if (number <= ledger.number) return number;
  throw new QueryError(404, `there is no record ${number} yet`, `the newest is ${ledger.number}`);
}

export function describeFuses(trips: readonly FuseTrip[]): readonly FuseAnswer[] {
  return trips.map(({ fuse, layer, type, message }) => ({
    fuse,
    ...(layer !== undefined && { layer }),
    ...(type !== undefined && { type }),
    message,
  }));
}

/** Describes a record without its single changes. */
export async function describeRecord(ledger: Publisher, record: LedgerRecord): Promise<RevisionAnswer> {
  const { number, kind, time, author, message } = record;
  const counts = countChanges(await ledger.history.changesOf(record));
  return {
    number,
    kind,
    time: new Date(time).toISOString(),
    ...(author !== undefined && { author }),
    ...(message !== undefined && { message }),
    ...("origin" in record && { writer: record.origin.writer }),
    ...("origin" in record && record.origin.git !== undefined && { git: record.origin.git }),
    ...("of" in record && { of: record.of }),
    ...("to" in record && { to: record.to }),
    ...counts,
    placement: "placement" in record && record.placement !== undefined,
    ...(record.kind === "held" && { fuses: describeFuses(record.trips) }),
  };
}

/** How many resources are added, changed and deleted. */
function countChanges(changes: readonly EntryChange[]): Pick<RevisionAnswer, ChangeAnswer["change"]> {
  const counts = { added: 0, changed: 0, deleted: 0 };
  for (const change of changes) counts[changeKind(change)]++;
  return counts;
}

export function changeKind({ before, after }: EntryChange): ChangeAnswer["change"] {
  return before === undefined ? "added" : after === undefined ? "deleted" : "changed";
}

export async function describeChanges(
  { view, describe }: AdminSources,
  query: Query,
  ledger: Publisher,
  changes: readonly EntryChange[],
): Promise<Pick<RevisionDetailAnswer, "changes" | "total" | "next">> {
  const offset = query.count("offset") ?? 0;
  const limit = limitOf(query);
  const withBody = query.flag("body");
  const names = query.oneOf("field-names", ["json", "proto"]) ?? "json";
  const contentOf = async (entry: EntryChange["after"]): Promise<ContentAnswer | undefined> => {
    if (entry === undefined) return undefined;
    const body = withBody && entry.body !== undefined ? await bodyOf({ view, ledger, names }, entry.body) : undefined;
    return { version: entry.version, ...(body !== undefined && { body }) };
  };
  const described: ChangeAnswer[] = [];
  for (const change of changes.slice(offset, offset + limit)) {
    const { layer, type, name } = change;
    const [before, after] = [await contentOf(change.before), await contentOf(change.after)];
    described.push({
      ...{ change: changeKind(change), layer, ...describe.type(type), name },
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    });
  }
  const next = offset + described.length;
  const isMore = next < changes.length && described.length > 0;
  return { changes: described, total: changes.length, ...(isMore && { next }) };
}

/** A resource as JSON; undefined if it is not kept or cannot be decoded. */
async function bodyOf(
  { view, ledger, names }: { readonly view: AdminView; readonly ledger: Publisher; readonly names: "json" | "proto" },
  id: string,
): Promise<unknown> {
  const bytes = await ledger.history.body(id);
  const resource = bytes && decodeBody(bytes, contentDigest);
  const type = resource?.bodyType ?? resource?.type;
  if (resource === undefined || type === undefined || resource.error !== undefined) return undefined;
  if (!view.types.knows(type)) return undefined;
  try {
    return view.types.toJson(type, resource.bytes, { redact: true, names });
  } catch {
    // Malformed bytes, which clients get as they are.
    return undefined;
  }
}

/** How many items an answer has. */
export function limitOf(query: Query): number {
  const limit = query.count("limit") ?? USUAL;
  if (limit > 0 && limit <= MOST) return limit;
  throw new QueryError(400, `limit: expected a number from 1 to ${MOST}, got ${limit}`);
}
