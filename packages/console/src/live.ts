import type { LiveEvents } from "@xdskit/server";
import { useEffect, useState } from "preact/hooks";
import { apiUrl } from "./api.ts";

/** Whether the events arrive. */
export type Connection = "connecting" | "live" | "lost";

export type Live = { readonly [K in keyof LiveEvents]?: LiveEvents[K] } & {
  readonly connection: Connection;
  /** Grows when everything shown has to be asked for again. */
  readonly reloads: number;
};

const names: readonly (keyof LiveEvents)[] = ["server", "source", "ledger", "progress", "nodes"];

let live: Live = { connection: "connecting", reloads: 0 };
const listeners = new Set<(live: Live) => void>();

let isTold = true;

/** Several events often come together: what is shown is drawn once for all of them. */
function change(changes: Partial<Live>): void {
  live = { ...live, ...changes };
  if (!isTold) return;
  isTold = false;
  setTimeout(() => {
    isTold = true;
    for (const listener of listeners) listener(live);
  });
}

/** How long to wait after an answer that was no stream of events, in milliseconds. */
const RETRY_MS = 5_000;

/**
 * Listens to the server's events for as long as the page is open. The browser connects again by itself, but not after an
 * answer such as that of a proxy whose server restarts.
 */
export function connect(): void {
  const source = new EventSource(apiUrl("events"));
  source.onopen = () => change({ connection: "live" });
  source.onerror = () => {
    change({ connection: "lost" });
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => {
      change({ reloads: live.reloads + 1 });
      connect();
    }, RETRY_MS);
  };
  for (const name of names) {
    source.addEventListener(name, ({ data }: MessageEvent<string>) => {
      change({ [name]: JSON.parse(data) as LiveEvents[typeof name] });
    });
  }
  source.addEventListener("reload", () => change({ reloads: live.reloads + 1 }));
}

/** What the server told last. */
export function useLive(): Live {
  const [shown, setShown] = useState(live);
  useEffect(() => {
    setShown(live);
    listeners.add(setShown);
    return () => void listeners.delete(setShown);
  }, []);
  return shown;
}
