import { Agent, type IncomingHttpHeaders, type RequestOptions, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { times } from "./measure.ts";
import { slowdown, until } from "./wait.ts";

/** Results of a load as plain values, so that a test can compare them at once. */
export interface LoadCounts {
  readonly total: number;
  /** Responses with status 200, by body. */
  readonly ok: Readonly<Record<string, number>>;
  /** All other outcomes: "503 no healthy upstream", "ECONNREFUSED". */
  readonly failed: Readonly<Record<string, number>>;
  readonly slowestMs: number;
}

export interface HttpLoad extends AsyncDisposable {
  /** Returns the counts since the last call. */
  take(): LoadCounts;
  /** Resolves with the milliseconds until the next response with that body. */
  answeredBy(body: string, withinMs: number): Promise<number>;
  /** Waits for pending requests and returns the counts since the last `take`. */
  stop(): Promise<LoadCounts>;
}

export interface HttpLoadOptions {
  readonly port: number;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Requests per second over persistent connections. @default 100, 200 in the long form */
  readonly keptPerSecond?: number;
  /** Requests per second, each on a new connection. @default 25, 50 in the long form */
  readonly newPerSecond?: number;
  readonly tls?: boolean;
  /** The address to connect from. @default chosen by the system */
  readonly localAddress?: string;
}

/** On an idle machine. */
const REQUEST_LIMIT_MS = 8_000;
/** With this many requests under way, those that are due are left out: a busy machine would only pile them up. */
const MOST_UNDER_WAY = 32;

/** Sends requests at a steady rate until stopped, without waiting for each response. */
export function startHttpLoad(options: HttpLoadOptions): HttpLoad {
  const kept = options.tls
    ? new TlsAgent({ keepAlive: true, maxSockets: 32 })
    : new Agent({ keepAlive: true, maxSockets: 32 });
  let ok = new Map<string, number>();
  let failed = new Map<string, number>();
  let total = 0;
  let slowestMs = 0;
  let underWay = 0;
  let lastOk: { body: string; at: number } = { body: "", at: 0 };
  const shoot = async (agent: Agent | false): Promise<void> => {
    if (underWay >= MOST_UNDER_WAY) return;
    underWay += 1;
    const startedAt = performance.now();
    const outcome = await sendRequest(options, agent);
    underWay -= 1;
    total += 1;
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    const counts = outcome.ok ? ok : failed;
    counts.set(outcome.text, (counts.get(outcome.text) ?? 0) + 1);
    if (outcome.ok) lastOk = { body: outcome.text, at: performance.now() };
  };
  const stops = [
    repeat(options.keptPerSecond ?? times(100, 200), () => void shoot(kept)),
    repeat(options.newPerSecond ?? times(25, 50), () => void shoot(false)),
  ];
  const take = (): LoadCounts => {
    const counts = {
      total,
      ok: Object.fromEntries(ok),
      failed: Object.fromEntries(failed),
      slowestMs: Math.round(slowestMs),
    };
    ok = new Map();
    failed = new Map();
    total = 0;
    slowestMs = 0;
    return counts;
  };
  const stop = async (): Promise<LoadCounts> => {
    for (const end of stops) end();
    await until({ says: "requests come back", withinMs: REQUEST_LIMIT_MS + 2_000 }, () => underWay === 0);
    kept.destroy();
    return take();
  };
  return {
    take,
    async answeredBy(body, withinMs) {
      const askedAt = performance.now();
      const { ms } = await until(
        { says: `an answer of ${body}`, withinMs },
        () => lastOk.body === body && lastOk.at > askedAt,
      );
      return ms;
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/** Sends one request on its own connection; resolves with status and body. */
export async function httpGet(options: HttpLoadOptions): Promise<{ status: number; body: string }> {
  const { status, body } = await httpAsk(options);
  return { status, body };
}

/** Sends one request on its own connection; resolves with the whole outcome. */
export async function httpAsk(options: HttpLoadOptions): Promise<HttpOutcome> {
  return sendRequest(options, false);
}

/** The outcome of a request. */
export interface HttpOutcome {
  /** The status is 200. */
  readonly ok: boolean;
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body of a 200, else an error such as "503 no healthy upstream" or "ECONNREFUSED". */
  readonly text: string;
}

function sendRequest(options: HttpLoadOptions, agent: Agent | false): Promise<HttpOutcome> {
  const target: RequestOptions = {
    host: "127.0.0.1",
    port: options.port,
    path: options.path ?? "/",
    headers: options.headers ?? {},
    agent,
    ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress }),
    timeout: slowdown() * REQUEST_LIMIT_MS,
  };
  return new Promise((resolve) => {
    const lost = (text: string): void => resolve({ ok: false, status: 0, headers: {}, body: "", text });
    const sent = (options.tls ? tlsRequest : request)({
      ...target,
      ...(options.tls ? { rejectUnauthorized: false } : {}),
    });
    sent.on("timeout", () => sent.destroy(new Error("timeout")));
    sent.on("error", (error: NodeJS.ErrnoException) => lost(error.code ?? error.message));
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", (error: NodeJS.ErrnoException) => lost(error.code ?? error.message));
      response.on("end", () => {
        const body = Buffer.concat(chunks).toString("utf8");
        const status = response.statusCode ?? 0;
        const { headers } = response;
        resolve({ ok: status === 200, status, headers, body, text: status === 200 ? body : `${status} ${body}` });
      });
    });
    sent.end();
  });
}

/** Calls `shoot` at an average rate, catching up when timers are late. Returns a function that stops it. */
function repeat(perSecond: number, shoot: () => void): () => void {
  if (perSecond <= 0) return () => {};
  const startedAt = performance.now();
  let shots = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond);
    for (; shots < due; shots++) shoot();
  }, 5);
  return () => clearInterval(timer);
}
