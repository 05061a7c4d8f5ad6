import { isThenable } from "../hub/listeners.ts";
import type { Log, LogEvent, LogFields } from "../log.ts";

/**
 * Wraps a log so that its exceptions do not reach the server; failed lines are lost. `failed` is called for the first
 * failure, and again after a line succeeded in between.
 */
export function guardLog(log: Log, failed: (error: unknown) => void): Log {
  let isFailing = false;
  const fail = (error: unknown): void => {
    if (isFailing) return;
    isFailing = true;
    failed(error);
  };
  const succeed = (): void => {
    isFailing = false;
  };
  return {
    write(event: LogEvent, fields: LogFields): void {
      try {
        const returned: unknown = log.write(event, fields);
        if (isThenable(returned)) returned.then(succeed, fail);
        else succeed();
      } catch (error) {
        fail(error);
      }
    },
  };
}
