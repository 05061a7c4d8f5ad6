import type { IncomingMessage, ServerResponse } from "node:http";
import { takesGzip } from "../transport/rest/takes-gzip.ts";
import type { ErrorAnswer } from "./answers/page.ts";
import { writeEvents } from "./live/event-stream.ts";
import type { AdminAnswer, FileAnswer } from "./route.ts";
import { writeJson, writePage } from "./write-page.ts";

export interface AnswerToWrite {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the access rules still let the caller in. */
  readonly mayRead: () => boolean;
  /** How long the caller may take to read an answer that has an end, in milliseconds. */
  readonly withinMs: number;
}

export async function writeAnswer(
  answer: AdminAnswer,
  { request, response, mayRead, withinMs }: AnswerToWrite,
): Promise<void> {
  // Its caller left, and nothing more is said of that.
  if (response.destroyed) return;
  if (answer.kind !== "events") {
    // What was not read yet stays in memory, also for a caller that reads a byte now and then.
    const late = setTimeout(() => response.destroy(), withinMs).unref();
    response.once("close", () => clearTimeout(late));
  }
  switch (answer.kind) {
    case "text":
      response.writeHead(answer.status ?? 200, { "content-type": answer.contentType ?? "text/plain; charset=utf-8" });
      response.end(answer.text);
      return;
    case "json":
      await writeJson(answer, response);
      return;
    case "page":
      response.writeHead(200, { "content-type": "application/json" });
      await writePage(answer, response);
      return;
    case "events":
      writeEvents(answer.feed, response, { lastId: request.headers["last-event-id"]?.toString(), mayRead });
      return;
    case "redirect":
      response.writeHead(308, { location: answer.to }).end();
      return;
    case "file":
      writeFile(answer, request, response);
      return;
    default:
      answer satisfies never;
  }
}

function writeFile(
  { headers, body, compressed }: FileAnswer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const isCompressed = takesGzip(request.headers["accept-encoding"]?.toString());
  const sent = isCompressed ? compressed : body;
  response.writeHead(200, {
    ...headers,
    ...(isCompressed && { "content-encoding": "gzip" }),
    "content-length": sent.byteLength,
    vary: "accept-encoding",
  });
  response.end(sent);
}

export function refuse(response: ServerResponse, status: number, answer: ErrorAnswer): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify(answer)}\n`);
}

/** Aborts a started response, so that the reader sees that it is incomplete. */
export function fail(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else refuse(response, 500, { error: "internal error" });
}
