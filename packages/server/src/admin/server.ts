import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isExpectedHost } from "../expected-host.ts";
import type { DeliveryTimes } from "../observe/deliveries.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { ErrorAnswer } from "./answers/page.ts";
import { Describer } from "./describe.ts";
import { Query, QueryError } from "./query.ts";
import type { AdminAnswer, AdminSources, Route } from "./route.ts";
import { conversions } from "./routes/conversions.ts";
import { livez, metrics, readyz } from "./routes/health.ts";
import { describeRoutes, describeRoutesAsHtml } from "./routes/index-page.ts";
import { loadReporters, loads } from "./routes/loads.ts";
import { deliveries, nodes, streams } from "./routes/nodes.ts";
import { resources } from "./routes/resources.ts";
import { layers, server, source } from "./routes/server.ts";
import type { AdminView } from "./view.ts";
import { writePage } from "./write-page.ts";

export interface AdminServerOptions {
  readonly view: AdminView;
  readonly metrics: Metrics;
  readonly deliveries: DeliveryTimes;
  readonly host: string;
  /** 0: the system picks a free port. */
  readonly port: number;
  /** Host names, besides IP addresses and localhost, that requests may use; `*` allows all. */
  readonly names?: readonly string[];
  /** Receives internal errors of routes. */
  readonly onFault?: (path: string, cause: unknown) => void;
}

/** The read-only admin API: resources, clients and deliveries. */
export interface AdminServer {
  /** Starts listening. Rejects with the system's error if it cannot. */
  start(): Promise<{ readonly host: string; readonly port: number }>;
  /** Stops listening and ends open responses. */
  close(): Promise<void>;
}

/** Every route, in the order of the index. */
const routes: readonly Route[] = [
  livez,
  readyz,
  metrics,
  server,
  source,
  layers,
  resources,
  conversions,
  nodes,
  streams,
  deliveries,
  loads,
  loadReporters,
];

export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { view, deliveries: times } = options;
  const sources: AdminSources = {
    view,
    deliveries: times,
    metrics: options.metrics,
    describe: new Describer(times, view.types),
  };
  const http = createServer((request, response) => {
    answerRequest(request, response, sources, options).catch((cause: unknown) => {
      options.onFault?.(request.url ?? "", cause);
      fail(response);
    });
  });
  return { start: () => listen(http, options), close: () => close(http) };
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  sources: AdminSources,
  { names = [] }: AdminServerOptions,
): Promise<void> {
  // Request bodies are discarded: the API only reads.
  request.resume();
  response.setHeader("cache-control", "no-store");
  response.setHeader("x-content-type-options", "nosniff");
  if (!isExpectedHost(request.headers.host, names)) {
    refuse(response, 403, { error: "unexpected Host header", hint: "use an address or localhost" });
    return;
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    refuse(response, 405, { error: `method ${request.method} is not allowed`, hint: "the admin API only reads" });
    return;
  }
  const wantsHtml = request.headers.accept?.includes("text/html") === true;
  const answer = await findAnswer(request.url ?? "/", wantsHtml, sources);
  if (request.method === "HEAD") {
    response.writeHead(answer.kind === "page" ? 200 : (answer.status ?? 200)).end();
    return;
  }
  await write(answer, response);
}

async function findAnswer(target: string, wantsHtml: boolean, sources: AdminSources): Promise<AdminAnswer> {
  try {
    const url = new URL(target, "http://admin");
    if (url.pathname === "/") return indexPage(wantsHtml, sources);
    const route = routes.find(({ path }) => path === url.pathname);
    if (route === undefined)
      throw new QueryError(404, `there is nothing at ${url.pathname}`, "GET / lists what there is");
    return await begin(await route.answer(sources, new Query(url.searchParams, Object.keys(route.parameters))));
  } catch (cause) {
    if (cause instanceof QueryError) return errorAnswer(cause.status, cause.message, cause.hint);
    if (cause instanceof TypeError && "code" in cause && cause.code === "ERR_INVALID_URL") {
      return errorAnswer(400, "the target is no URL");
    }
    throw cause;
  }
}

/** The index, as HTML for browsers or as text for terminals. */
function indexPage(wantsHtml: boolean, { view }: AdminSources): AdminAnswer {
  if (!wantsHtml) return { kind: "text", text: describeRoutes(routes, view.version) };
  const contentType = "text/html; charset=utf-8";
  return { kind: "text", contentType, text: describeRoutesAsHtml(routes, view.version) };
}

/** Runs the first step of a page, so that invalid parameters still get an error status. */
async function begin(answer: AdminAnswer): Promise<AdminAnswer> {
  if (answer.kind !== "page") return answer;
  const iterator = answer.steps[Symbol.iterator]();
  const first = iterator.next();
  const rest = { [Symbol.iterator]: () => iterator };
  function* steps(): Iterable<(typeof first)["value"]> {
    if (first.done === true) return;
    yield first.value;
    yield* rest;
  }
  return { ...answer, steps: steps() };
}

function errorAnswer(status: number, error: string, hint?: string): AdminAnswer {
  const value: ErrorAnswer = { error, ...(hint !== undefined && { hint }) };
  return { kind: "json", status, value };
}

async function write(answer: AdminAnswer, response: ServerResponse): Promise<void> {
  switch (answer.kind) {
    case "text":
      response.writeHead(answer.status ?? 200, { "content-type": answer.contentType ?? "text/plain; charset=utf-8" });
      response.end(answer.text);
      return;
    case "json":
      response.writeHead(answer.status ?? 200, { "content-type": "application/json" });
      response.end(`${JSON.stringify(answer.value)}\n`);
      return;
    case "page":
      response.writeHead(200, { "content-type": "application/json" });
      await writePage(answer, response);
      return;
    default:
      answer satisfies never;
  }
}

function refuse(response: ServerResponse, status: number, answer: ErrorAnswer): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify(answer)}\n`);
}

/** Aborts a started response, so that the reader sees that it is incomplete. */
function fail(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else refuse(response, 500, { error: "internal error" });
}

function listen(http: Server, { host, port }: AdminServerOptions): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, () => {
      http.off("error", reject);
      const address = http.address();
      // A server that listens at a host and port has an address that is neither a pipe nor nothing.
      if (address === null || typeof address === "string") reject(new Error("the admin API has no address"));
      else resolve({ host: address.address, port: address.port });
    });
  });
}

function close(http: Server): Promise<void> {
  return new Promise((resolve) => {
    http.close(() => resolve());
    http.closeAllConnections();
  });
}
