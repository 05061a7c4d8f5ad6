import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import type { PageAnswer } from "./route.ts";

/** Then streams and requests go first. */
const SLICE_MS = 3;
const FLUSH_CHARACTERS = 64 * 1024;

/**
 * Writes a page as JSON while it is made. Holds the event loop for a few milliseconds at a time, and as much in memory
 * as the reader has not taken yet: a list of 100,000 costs what one of 100 does, for longer.
 */
export async function writePage(answer: PageAnswer, response: ServerResponse): Promise<void> {
  let total = 0;
  let text = '{"items":[';
  let written = 0;
  let sliceEndsAt = performance.now() + SLICE_MS;
  for (const step of answer.steps) {
    if (step !== undefined && total++ >= answer.offset && written < answer.limit) {
      text += `${written === 0 ? "" : ","}\n${JSON.stringify(step())}`;
      written++;
    }
    if (text.length < FLUSH_CHARACTERS && performance.now() < sliceEndsAt) continue;
    if (text.length > 0) await flush(text, response);
    text = "";
    await turn();
    if (response.destroyed) return;
    sliceEndsAt = performance.now() + SLICE_MS;
  }
  const next = answer.offset + written;
  const isMore = next < total && written > 0;
  response.end(`${text}\n],"total":${total}${isMore ? `,"next":${next}` : ""}}\n`);
}

async function flush(text: string, response: ServerResponse): Promise<void> {
  if (response.write(text) || response.destroyed) return;
  const gone = new AbortController();
  const closed = (): void => gone.abort();
  response.once("close", closed);
  try {
    await once(response, "drain", { signal: gone.signal });
  } catch (cause) {
    // The reader left: the walk ends at its next look.
    if (!gone.signal.aborted) throw cause;
  } finally {
    response.off("close", closed);
  }
}
