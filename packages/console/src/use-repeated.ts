import { useEffect, useRef } from "preact/hooks";
import { Rest } from "./rest.ts";

/**
 * Runs a question at once when it is another one, which ends the one before; and again, after a rest, when `changes`
 * is another value: longer and longer ones, while changes come all the time. A run that is under way is left to finish, so
 * that constant changes keep nobody waiting.
 */
export function useRepeated(
  question: string,
  changes: unknown,
  restMs: number,
  run: (signal: AbortSignal) => Promise<void>,
): void {
  const again = useRef<() => void>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isRunning = false;
    let isOutdated = false;
    const rests = new Rest(restMs);
    const begin = async (): Promise<void> => {
      isRunning = true;
      isOutdated = false;
      await run(abort.signal);
      rests.answered(performance.now());
      isRunning = false;
      if (isOutdated) rest();
    };
    const rest = (): void => {
      if (abort.signal.aborted || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        void begin();
      }, rests.next(performance.now()));
    };
    again.current = () => {
      isOutdated = true;
      if (!isRunning) rest();
    };
    void begin();
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [question]);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) again.current?.();
    isFirst.current = false;
  }, [changes]);
}
