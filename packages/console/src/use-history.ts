import type { RevisionAnswer, RevisionsAnswer } from "@xdskit/server";
import { useState } from "preact/hooks";
import { ask, type Parameters } from "./api.ts";
import { useRepeated } from "./use-repeated.ts";

/** Records that are asked for at once. */
const PAGE = 50;
/** How long the newest page stands before it is asked for again, in milliseconds. */
const REST_MS = 1_000;

interface Pages {
  readonly question: string;
  readonly items: readonly RevisionAnswer[];
  /** The `before` of the next page. */
  readonly next: number | undefined;
  readonly error: string | undefined;
}

export interface History extends Omit<Pages, "question"> {
  /** Whether the first page is not there yet. */
  readonly isAsked: boolean;
  /** Asks for older records. */
  readonly more: () => Promise<void>;
}

/** The ledger, newest first, page by page. Records never change, so new ones are put in front of those that are known. */
export function useHistory(parameters: Parameters, changes: unknown): History {
  const question = JSON.stringify(parameters);
  const [pages, setPages] = useState<Pages>();
  const current = pages?.question === question ? pages : undefined;
  const fail = (cause: unknown): void =>
    setPages({ question, items: current?.items ?? [], next: undefined, error: (cause as Error).message });
  useRepeated(question, changes, REST_MS, async (signal) => {
    try {
      const { items, next } = await ask<RevisionsAnswer>("revisions", { ...parameters, limit: PAGE }, signal);
      setPages((known) => ({ question, error: undefined, ...join(items, next, known, question) }));
    } catch (cause) {
      if (!signal.aborted) fail(cause);
    }
  });
  const more = async (): Promise<void> => {
    if (current?.next === undefined) return;
    try {
      const older = await ask<RevisionsAnswer>("revisions", { ...parameters, limit: PAGE, before: current.next });
      setPages((known) =>
        known?.question === question
          ? { question, items: [...known.items, ...older.items], next: older.next, error: undefined }
          : known,
      );
    } catch (cause) {
      fail(cause);
    }
  };
  return {
    items: current?.items ?? [],
    next: current?.next,
    error: current?.error,
    isAsked: current === undefined,
    more,
  };
}

/** The newest page before what is known, unless something may be between them. */
function join(
  newest: readonly RevisionAnswer[],
  next: number | undefined,
  known: Pages | undefined,
  question: string,
): Pick<Pages, "items" | "next"> {
  const first = known?.question === question ? known.items[0]?.number : undefined;
  const isJoined = first !== undefined && newest.some(({ number }) => number === first);
  if (known === undefined || !isJoined) return { items: newest, next };
  return { items: [...newest.filter(({ number }) => number > first), ...known.items], next: known.next };
}
