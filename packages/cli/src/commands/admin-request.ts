import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Readable } from "node:stream";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { type AdminFlags, type AdminServer, adminServerOf, hintOf } from "./admin-server.ts";

/** A limit that is more than any fleet has. */
export const EVERY_NODE = "999999999";

const TIMEOUT_MS = 30_000;

/** The flags that filter nodes. */
export interface NodeFilterFlags {
  readonly cluster?: string;
  readonly userAgent?: string;
}

/** How a request is made. */
interface AskOptions {
  /** The exit codes of some statuses. */
  readonly codes?: Readonly<Record<number, ExitCode>>;
  /**
   * How long the answer may take, in milliseconds.
   * @default 30,000
   */
  readonly withinMs?: number;
}

/** The server did not answer in time. */
export class NoAnswerError extends CommandError {}

/** Query parameters; those with several values are repeated. */
type AdminQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The filters as query parameters of the admin API. */
export function nodeFilterOf({ cluster, userAgent }: NodeFilterFlags): Readonly<Record<string, string | undefined>> {
  return { cluster, "user-agent": userAgent };
}

/**
 * Sends a GET request to the admin API and returns the JSON of the response. Throws a `CommandError` if the API cannot
 * be reached or does not answer with 200, and a `NoAnswerError` if it does not answer in time.
 */
export async function askAdmin<T>(
  path: string,
  query: AdminQuery,
  flags: AdminFlags,
  io: Io,
  { codes = {}, withinMs }: AskOptions = {},
): Promise<T> {
  const { address, status, answer } = await send("GET", path, query, flags, io, { withinMs });
  if (status === 200 && answer !== undefined) return answer as T;
  throw refused(address, status, answer, codes);
}

/**
 * Sends a request that changes something and returns the JSON of the response: what became of it, also if the server
 * refused it. Throws a `CommandError` as `askAdmin` does.
 */
export async function changeByAdmin<T extends { readonly result: string }>(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  flags: AdminFlags,
  io: Io,
): Promise<T> {
  const { address, status, answer } = await send("POST", path, query, flags, io);
  if (typeof answer === "object" && answer !== null && "result" in answer) return answer as T;
  throw refused(address, status, answer, {});
}

/**
 * Sends lines to the admin API that it answers without a change, and returns the JSON of the response. Throws a
 * `CommandError` as `askAdmin` does.
 */
export async function sendToAdmin<T>(
  path: string,
  query: AdminQuery,
  lines: Iterable<string>,
  flags: AdminFlags,
  io: Io,
): Promise<T> {
  const { address, status, answer } = await send("POST", path, query, flags, io, { lines });
  if (status === 200 && answer !== undefined) return answer as T;
  throw refused(address, status, answer, {});
}

interface Sent {
  readonly address: string;
  readonly status: number;
  /** Undefined: it is no JSON. */
  readonly answer: unknown;
}

async function send(
  method: "GET" | "POST",
  path: string,
  query: AdminQuery,
  flags: AdminFlags,
  io: Io,
  { lines, withinMs }: { readonly lines?: Iterable<string>; readonly withinMs?: number | undefined } = {},
): Promise<Sent> {
  const server = await adminServerOf(flags, io);
  const { status, text } = await request({ method, lines }, server, { path, query, io, withinMs });
  return { address: server.shown, status, answer: parse(text) };
}

function refused(
  address: string,
  status: number,
  answer: unknown,
  codes: Readonly<Record<number, ExitCode>>,
): CommandError {
  const why = textIn(answer, "error");
  const hint = why === undefined ? "that is not the admin API: is it the port for clients?" : textIn(answer, "hint");
  const code = codes[status];
  // An answer that a command expects speaks for itself.
  if (code !== undefined && why !== undefined) return new CommandError(code, why, hint);
  // The API says which parameter is invalid; the commands pass most of them on as they were given.
  if (status === 400 && why !== undefined) return new CommandError(exitCode.usage, why, hint);
  if (status === 503 && why !== undefined) return new CommandError(exitCode.unreachable, why, hint);
  const message = `${address} answered ${status}${why === undefined ? "" : `: ${why}`}`;
  return new CommandError(exitCode.problems, message, hint);
}

/** GETs JSON from another server; undefined if it answers with anything else. `what` names it in errors. */
export async function askJson(url: URL, what: string, io: Io): Promise<unknown> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const signal = AbortSignal.any([io.interrupted, late]);
    const { status, text } = await read({ method: "GET", lines: undefined }, url, {}, signal);
    return status === 200 ? parse(text) : undefined;
  } catch (cause) {
    if (io.interrupted.aborted) throw new CommandError(exitCode.interrupted, "interrupted");
    if (late.aborted) throw noAnswer(`${what} at ${url.host}`, TIMEOUT_MS);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(exitCode.unreachable, `cannot reach ${what} at ${url.host}: ${why}`);
  }
}

function noAnswer(whose: string, ms: number, hint?: string): NoAnswerError {
  return new NoAnswerError(exitCode.unreachable, `no answer from ${whose} within ${ms / 1000} s`, hint);
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

interface Sending {
  readonly method: "GET" | "POST";
  /** The body. */
  readonly lines: Iterable<string> | undefined;
}

interface AdminQuestion {
  readonly path: string;
  readonly query: AdminQuery;
  readonly io: Io;
  readonly withinMs: number | undefined;
}

async function request(
  sending: Sending,
  server: AdminServer,
  { path, query, io, withinMs = TIMEOUT_MS }: AdminQuestion,
): Promise<Reply> {
  const url = new URL(`${server.base.pathname.replace(/\/$/, "")}${path}`, server.base);
  for (const [key, given] of Object.entries(query))
    for (const value of given === undefined ? [] : [given].flat()) url.searchParams.append(key, value);
  const late = AbortSignal.timeout(Math.ceil(withinMs));
  try {
    return await read(sending, url, server, AbortSignal.any([io.interrupted, late]));
  } catch (cause) {
    if (io.interrupted.aborted) throw new CommandError(exitCode.interrupted, "interrupted");
    if (late.aborted)
      throw noAnswer(`the admin API at ${server.shown}`, withinMs, "is that the port of the admin API?");
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `cannot reach the admin API at ${server.shown}: ${why}`;
    throw new CommandError(exitCode.unreachable, message, hintOf(cause, server));
  }
}

type Connection = Pick<AdminServer, "socketPath" | "tls">;

/** Uses `node:http`, because `fetch` refuses the ports that browsers block. */
function read(
  { method, lines }: Sending,
  url: URL,
  { socketPath, tls }: Connection,
  signal: AbortSignal,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = { method, signal, ...(socketPath !== undefined && { socketPath }), ...tls };
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const asked = send(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      response.on("error", reject);
    });
    asked.on("error", reject);
    if (lines === undefined) asked.end();
    else Readable.from(inChunks(lines)).pipe(asked);
  });
}

const CHUNK = 64 * 1024;

function* inChunks(lines: Iterable<string>): Iterable<string> {
  let chunk = "";
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // something else listens there; only the status can be reported
  }
}

function textIn(answer: unknown, key: "error" | "hint"): string | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  const text: unknown = Object.entries(answer).find(([name]) => name === key)?.[1];
  return typeof text === "string" ? text : undefined;
}
