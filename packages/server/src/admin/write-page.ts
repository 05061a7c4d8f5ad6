import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { TimedSlices } from "../timed-slices.ts";
import type { PageAnswer } from "./route.ts";

const FLUSH_CHARACTERS = 64 * 1024;

/**
 * Writes a page as JSON while it is built. Blocks the event loop for a few milliseconds at a time and buffers only what
 * the reader has not read yet, so a list of 100,000 items needs no more memory than one of 100.
 */
export async function writePage(answer: PageAnswer, response: ServerResponse): Promise<void> {
  let total = 0;
  let text = '{"items":[';
  let written = 0;
  const slices = new TimedSlices();
  for (const step of answer.steps) {
    if (step !== undefined && total++ >= answer.offset && written < answer.limit) {
      text += `${written === 0 ? "" : ","}\n${JSON.stringify(step())}`;
      written++;
    }
    if (text.length < FLUSH_CHARACTERS && !slices.isOver) continue;
    if (text.length > 0) await flush(text, response);
    text = "";
    await slices.next();
    if (response.destroyed) return;
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
    // The reader disconnected: the iteration ends at its next check.
    if (!gone.signal.aborted) throw cause;
  } finally {
    response.off("close", closed);
  }
}
