import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { TimedSlices } from "../timed-slices.ts";
import type { JsonAnswer, PageAnswer } from "./route.ts";

const FLUSH_CHARACTERS = 64 * 1024;

/** Writes an answer as JSON; what lists it has is printed item by item, as a page is: bodies of resources may be large. */
export async function writeJson({ status = 200, value }: JsonAnswer, response: ServerResponse): Promise<void> {
  response.writeHead(status, { "content-type": "application/json" });
  let text = "";
  const slices = new TimedSlices();
  for (const piece of piecesOf(value)) {
    text += piece;
    if (text.length < FLUSH_CHARACTERS && !slices.isOver) continue;
    if (text.length >= FLUSH_CHARACTERS) {
      await flush(text, response);
      text = "";
    }
    await slices.next();
    if (response.destroyed) return;
  }
  response.end(`${text}\n`);
}

/** What `JSON.stringify` makes of it, in pieces: the items of lists that the value has. */
function* piecesOf(value: unknown): Iterable<string> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || "toJSON" in value) {
    yield JSON.stringify(value);
    return;
  }
  let before = "{";
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ",";
    if (!Array.isArray(one)) yield JSON.stringify(one);
    else if (one.length === 0) yield "[]";
    else {
      for (const [index, item] of one.entries()) yield `${index === 0 ? "[" : ","}${JSON.stringify(item) ?? "null"}`;
      yield "]";
    }
  }
  yield before === "{" ? "{}" : "}";
}

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
