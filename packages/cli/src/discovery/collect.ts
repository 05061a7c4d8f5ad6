import type { Change, TypeOrUrl, Watch, XdsClient, XdsClientError, XdsResource } from "@xdskit/client";
import { LONGEST_TIMER_MS } from "@xdskit/disk";
import type { Answers } from "./answers.ts";

/** What a server sent. */
export interface Collected {
  readonly resources: readonly XdsResource[];
  /** Requested names without a resource or an error. */
  readonly missing: readonly string[];
  /** Rejected resources and resource errors of the server. */
  readonly errors: readonly XdsClientError[];
  /** The version of the last accepted response; undefined without one. */
  readonly version: string | undefined;
  /** Whether the server responded at all. */
  readonly isAnswered: boolean;
}

export interface CollectOptions {
  /** Names to request; empty requests all. */
  readonly names: readonly string[];
  /** One response is complete: no need to wait for more. */
  readonly isWhole: boolean;
  readonly timeoutMs: number;
  /**
   * A server may split its answer into several responses and does not mark the last one: the answer ends when this long
   * passes without one.
   */
  readonly quietMs: number;
}

/**
 * Watches until all requested resources arrive, or no more responses come. Rejects with the `XdsClientError` of a
 * server that cannot be reached, or that does not serve the type.
 */
export async function collect(
  client: XdsClient,
  type: TypeOrUrl,
  { names, isWhole, timeoutMs, quietMs, answers }: CollectOptions & { readonly answers: Answers },
): Promise<Collected> {
  const found = new Map<string, XdsResource>();
  const errors = new Map<string, XdsClientError>();
  /** Names without a resource, an error or an absence yet. */
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
      // The watches get their changes before the timer fires.
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
  const { version, isAnswered } = answers;
  return { resources: [...found.values()], missing: [...missing], errors: [...errors.values()], version, isAnswered };
}

/** The server cannot be reached, or does not serve the type. */
function isOfConnection({ code }: XdsClientError): boolean {
  return code === "UNREACHABLE" || code === "TYPE_UNSUPPORTED";
}
