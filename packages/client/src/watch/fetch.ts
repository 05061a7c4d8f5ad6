import { startTimer } from "@xdskit/disk";
import type { RulesOf, WatchEvent } from "@xdskit/protocol/internal";
import { aSignal, aWait } from "../argument.ts";
import type { SourceConfig } from "../config/client-config.ts";
import type { Driver } from "../driver/driver.ts";
import { XdsClientError } from "../error.ts";
import type { ResourceViews, XdsResource } from "../resource/xds-resource.ts";
import { onceAborted } from "./abort.ts";
import type { Watching } from "./follow.ts";
import type { KeepAlive } from "./keep-alive.ts";
import { errorOf } from "./tell.ts";

/** How long a fetch waits. */
export interface FetchOptions {
  /**
   * In milliseconds; 0: no timeout.
   * @default 20_000
   */
  readonly timeoutMs?: number;
  /** Cancels the fetch, which rejects with the abort reason. */
  readonly signal?: AbortSignal | undefined;
}

export const fetchRules: RulesOf<FetchOptions> = { timeoutMs: aWait, signal: aSignal };

/** What a fetch needs. */
export interface FetchSetting extends FetchOptions {
  readonly driver: Pick<Driver, "isJudging">;
  /** Watches what is fetched. */
  readonly watch: Watching;
  readonly views: ResourceViews;
  readonly vigil: KeepAlive;
  /** The first source that is asked. */
  readonly source: SourceConfig;
  /** What is fetched, for messages. */
  readonly about: string;
  /** Aborted when the client closes, with the error to reject with. */
  readonly closing: AbortSignal;
}

const TIMEOUT_MS = 20_000;
/**
 * A large delta response comes in parts and nothing marks the last: the fetch ends after this long without another one,
 * or after the longest time that one was waited for, whichever is longer.
 */
const QUIET_MS = 100;
/** The limit of that wait, for resources that change all the time. */
const LONGEST_SETTLING_MS = 5_000;

/** Returns the result of a fetch, or undefined to keep waiting. Throws what the fetch rejects with. */
type Take<T> = (news: WatchEvent) => { readonly result: T } | undefined;

/** Fetches one resource. An unreachable server is retried until the timeout. */
export function fetchOne(setting: FetchSetting): Promise<XdsResource> {
  return fetchWith(setting, (news) => {
    if (news.kind === "absent") throw new XdsClientError("DOES_NOT_EXIST", `${setting.about} does not exist`);
    return news.kind === "changed" ? { result: setting.views.of(news.resource) } : undefined;
  });
}

/** Fetches all resources. */
export async function fetchAll(setting: FetchSetting): Promise<readonly XdsResource[]> {
  const { driver, source, views } = setting;
  const found = new Map<string, XdsResource>();
  const isWhole = source.kind !== "grpc" || source.variant === "sotw";
  let heardAtMs = performance.now();
  let quietMs = QUIET_MS;
  let isOver = false;
  const keepAll = (news: WatchEvent): void => {
    const now = performance.now();
    quietMs = Math.max(quietMs, now - heardAtMs);
    heardAtMs = now;
    if (news.kind === "changed") found.set(news.name, views.of(news.resource));
    else if (news.kind === "absent") found.delete(news.name);
  };
  await fetchWith(
    setting,
    (news) => {
      keepAll(news);
      return news.kind === "synced" ? { result: undefined } : undefined;
    },
    async () => {
      const latestMs = performance.now() + LONGEST_SETTLING_MS;
      const isSettled = (): boolean =>
        isOver || isWhole || (performance.now() - heardAtMs >= quietMs && !driver.isJudging(source.id));
      while (!isSettled() && performance.now() < latestMs)
        await new Promise<void>((resolve) => void startTimer(QUIET_MS / 2, resolve));
    },
  ).finally(() => {
    isOver = true;
  });
  return [...found.values()];
}

async function fetchWith<T>(setting: FetchSetting, take: Take<T>, settled?: () => Promise<void>): Promise<T> {
  const { watch, vigil, signal, closing, about, timeoutMs = TIMEOUT_MS } = setting;
  signal?.throwIfAborted();
  vigil.begin();
  const ends: (() => void)[] = [() => vigil.end()];
  try {
    return await new Promise<T>((resolve, reject) => {
      let unreachable: XdsClientError | undefined;
      const stop = watch((news) => {
        try {
          unreachable = news.kind === "recovered" ? undefined : (failureIn(news) ?? unreachable);
          const taken = take(news);
          if (taken !== undefined) (settled?.() ?? Promise.resolve()).then(() => resolve(taken.result), reject);
        } catch (cause) {
          reject(cause instanceof Error ? cause : new Error(String(cause)));
        }
      });
      ends.push(stop);
      ends.push(onceAborted(closing, reject));
      if (signal !== undefined) ends.push(onceAborted(signal, reject));
      if (timeoutMs === 0) return;
      const text = `${about}: nothing came within ${timeoutMs} ms`;
      const timer = startTimer(timeoutMs, () => reject(unreachable ?? new XdsClientError("TIMEOUT", text)));
      ends.push(() => timer.cancel());
    });
  } finally {
    for (const end of ends) end();
  }
}

/** The error that ends a fetch; an unreachable server does not, because it may return. */
function failureIn(news: WatchEvent): XdsClientError | undefined {
  if (news.kind !== "failed") return undefined;
  const error = errorOf(news);
  if (error.code === "UNREACHABLE") return error;
  throw error;
}
