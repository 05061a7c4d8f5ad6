import type { NodeAnswer, TypeAnswer, WaitAnswer } from "@xdskit/server";

type ResponseAnswer = TypeAnswer["pending"][number];

/** What the server sent to a node, what the node answered, or what is held back. */
export interface Saying {
  readonly kind: "sent" | "acked" | "nacked" | "waits";
  /** In milliseconds since 1970; undefined: since when it waits is not known. */
  readonly at: number | undefined;
  readonly type: Pick<TypeAnswer, "type" | "shortName">;
  readonly stream: number;
  readonly revision?: number;
  /** Why it was NACKed. */
  readonly reason?: string;
  readonly waits?: WaitAnswer;
}

/** What was said last by each of them about every type, in the order of time; what waits comes last. */
export function talkOf({ types }: NodeAnswer, most: number): readonly Saying[] {
  const said = types.flatMap(sayingsOf);
  const timed = said.filter(({ kind, at }) => kind !== "waits" && at !== undefined);
  const inOrder = timed.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0)).slice(-most);
  return [...inOrder, ...said.filter(({ kind }) => kind === "waits")];
}

function sayingsOf({ type, shortName, stream, acked, nacked, pending, waits }: TypeAnswer): readonly Saying[] {
  const about = { type: { type, ...(shortName !== undefined && { shortName }) }, stream };
  const said: Saying[] = [];
  const sent = ({ revision, sentAt }: ResponseAnswer): void =>
    void said.push({ ...about, kind: "sent", revision, at: timeOf(sentAt) });
  if (acked !== undefined) {
    sent(acked);
    said.push({ ...about, kind: "acked", revision: acked.revision, at: timeOf(acked.ackedAt) });
  }
  if (nacked !== undefined) {
    const { revision, reason, nackedAt } = nacked;
    sent(nacked);
    said.push({ ...about, kind: "nacked", revision, reason, at: timeOf(nackedAt) });
  }
  for (const response of pending) sent(response);
  if (waits !== undefined) said.push({ ...about, kind: "waits", waits, at: timeOf(waits.since) });
  return said;
}

function timeOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}
