import type { Change, TypeOrUrl, Watch, XdsClient, XdsClientError, XdsResource } from "@xdskit/client";
import { LONGEST_TIMER_MS } from "@xdskit/disk";
import type { Answers } from "./answers.ts";

/** What a server answered. */
export interface Collected {
  readonly resources: readonly XdsResource[];
  /** Asked for by name, and not there. */
  readonly missing: readonly string[];
  /** What was refused, and what the server says that it cannot give. */
  readonly errors: readonly XdsClientError[];
  /** Whether there was an answer at all. */
  readonly isAnswered: boolean;
}

export interface CollectOptions {
  /** None: everything. */
  readonly names: readonly string[];
  /** One response tells everything: there is nothing to wait for after it. */
  readonly isWhole: boolean;
  readonly timeoutMs: number;
  /** A server may split an answer and does not say where it ends: it does when nothing comes for so long. */
  readonly quietMs: number;
}

/**
 * Watches until everything that was asked for is there, or nothing more comes. Rejects with the `XdsClientError` of a server that cannot
 * be reached, or that does not serve the type.
 */
export async function collect(
  client: XdsClient,
  type: TypeOrUrl,
  { names, isWhole, timeoutMs, quietMs, answers }: CollectOptions & { readonly answers: Answers },
): Promise<Collected> {
  const found = new Map<string, XdsResource>();
  const errors = new Map<string, XdsClientError>();
  /** Names that nothing is known of yet. */
  const open = new Set(names);
  const missing = new Set(names);
  const watches: Watch[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const wait = (ms: number): void => {
        clearTimeout(timer);
        timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
      };
      const take = (name: string | undefined, change: Change): void => {
        if (change.kind === "error" && isOfConnection(change.error)) {
          reject(change.error);
          return;
        }
        if (change.kind === "added" || change.kind === "changed") {
          found.set(change.key, change.resource);
          if (name !== undefined) missing.delete(name);
        } else if (change.kind === "does-not-exist") found.delete(change.key);
        else if (change.kind === "error") {
          errors.set(change.error.message, change.error);
          if (name !== undefined) missing.delete(name);
        }
        if (name === undefined) return;
        open.delete(name);
        if (open.size === 0) wait(0);
      };
      wait(timeoutMs);
      // What came is told before the next turn of the event loop.
      answers.heard = () => wait(isWhole ? 0 : quietMs);
      for (const name of names.length === 0 ? [undefined] : names) {
        watches.push(client.watch(type, name, { onChange: (change) => take(name, change) }));
      }
    });
  } finally {
    clearTimeout(timer);
    answers.heard = () => {};
    for (const watch of watches) watch.close();
  }
  const { isAnswered } = answers;
  return { resources: [...found.values()], missing: [...missing], errors: [...errors.values()], isAnswered };
}

/** The server is not there, or there is no way to ask it for the type. */
function isOfConnection({ code }: XdsClientError): boolean {
  return code === "UNREACHABLE" || code === "TYPE_UNSUPPORTED";
}
