import type { RevisionAnswer, RevisionsAnswer } from "@xdskit/server";
import { useState } from "preact/hooks";
import { ask, type Parameters } from "./api.ts";
import { joinNewest } from "./join-newest.ts";
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
      setPages((known) => ({
        question,
        error: undefined,
        ...joinNewest({ items, next }, known?.question === question ? known : undefined),
      }));
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
