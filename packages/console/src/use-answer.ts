import { useState } from "preact/hooks";
import { ask, type Parameters } from "./api.ts";
import { useRepeated } from "./use-repeated.ts";

export interface Asked<T> {
  readonly answer: T | undefined;
  readonly error: string | undefined;
}

const REST_MS = 1_000;
/** The rest where a clock is what changes: its pace is enough, and slow answers are no reason to ask more seldom. */
export const PACED_BY_CLOCK = 0;

/**
 * Asks the admin API, and again when `changes` is another value. The last answer stays until the next one is there,
 * unless the question is another one. An answer stands for `restMs` milliseconds at least, and for longer while
 * changes come all the time.
 */
export function useAnswer<T>(
  route: string,
  parameters: Parameters = {},
  changes: unknown = undefined,
  restMs: number = REST_MS,
): Asked<T> {
  const question = `${route}?${JSON.stringify(parameters)}`;
  const [asked, setAsked] = useState<Asked<T> & { readonly question: string }>();
  useRepeated(question, changes, restMs, async (signal) => {
    try {
      setAsked({ question, answer: await ask<T>(route, parameters, signal), error: undefined });
    } catch (cause) {
      if (!signal.aborted) setAsked({ question, answer: undefined, error: (cause as Error).message });
    }
  });
  return asked?.question === question ? asked : { answer: undefined, error: undefined };
}
