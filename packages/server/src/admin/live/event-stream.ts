import type { ServerResponse } from "node:http";
import type { EventFeed, FeedEvent } from "./event-feed.ts";

const KEEP_ALIVE_MS = 15_000;
/** How long a reader may leave unread what it was sent, in milliseconds. */
const MAX_BLOCKED_MS = 60_000;
/** How soon a browser connects again, in milliseconds. */
const RETRY_MS = 2_000;

/** Who reads events. */
export interface EventReader {
  /** The last event that it has. */
  readonly lastId: string | undefined;
  /** Asked again and again: access rules may change. */
  readonly mayRead: () => boolean;
}

/**
 * Writes the feed as server-sent events until the reader disconnects. A reader that does not read is owed nothing: once
 * it reads again, it is told to reload, and how things are then.
 */
export function writeEvents(feed: EventFeed, response: ServerResponse, { lastId, mayRead }: EventReader): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" });
  let hasSkipped = false;
  let blockedFor = 0;
  const take = (events: readonly FeedEvent[]): void => {
    if (!mayRead()) {
      response.destroy();
      return;
    }
    if (response.writableNeedDrain) hasSkipped = true;
    else if (events.length > 0) response.write(events.map(formatEvent).join(""));
  };
  response.write(`retry: ${RETRY_MS}\n\n${lastId !== undefined && !feed.knows(lastId) ? RELOAD : ""}`);
  const unsubscribe = feed.subscribe({ take }, lastId);
  response.on("drain", () => {
    blockedFor = 0;
    if (!hasSkipped) return;
    hasSkipped = false;
    response.write(RELOAD);
    take(feed.current());
  });
  const keepAlive = setInterval(() => {
    blockedFor = response.writableNeedDrain ? blockedFor + KEEP_ALIVE_MS : 0;
    if (blockedFor >= MAX_BLOCKED_MS || !mayRead()) response.destroy();
    else if (blockedFor === 0) response.write(": still here\n\n");
  }, KEEP_ALIVE_MS).unref();
  response.once("close", () => {
    clearInterval(keepAlive);
    unsubscribe();
  });
}

/** What the reader shows is outdated. */
const RELOAD = "event: reload\ndata: {}\n\n";

function formatEvent({ id, name, data }: FeedEvent): string {
  return `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`;
}
