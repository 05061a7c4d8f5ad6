import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import type { EntryPoint } from "@xdskit/protocol";
import { type AccessClaim, type AccessPolicy, defaultAccess } from "@xdskit/protocol/internal";
import { isExpectedHost } from "../expected-host.ts";
import type { DeliveryTimes } from "../observe/deliveries.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { TlsFiles } from "../options.ts";
import { TlsListener, type TlsReloads } from "../transport/grpc/tls.ts";
import { addressOf, describePeer } from "../transport/peer.ts";
import { type AdminCaller, type AdminRole, type AdminRules, callerOf, describeCaller, roleOf } from "./access.ts";
import type { ErrorAnswer } from "./answers/page.ts";
import { CONSOLE_PATH, ConsoleFiles } from "./console.ts";
import { Describer } from "./describe.ts";
import { EventFeed } from "./live/event-feed.ts";
import { writeEvents } from "./live/event-stream.ts";
import { Samples } from "./live/samples.ts";
import { listenAtPath } from "./local-socket.ts";
import { mayDecide } from "./page-check.ts";
import { Query, QueryError } from "./query.ts";
import type { AdminAnswer, AdminSources, FileAnswer, Route, SharedSources } from "./route.ts";
import { access, accessClients, accessRules } from "./routes/access.ts";
import { whoAsks } from "./routes/caller.ts";
import { conversions } from "./routes/conversions.ts";
import { adopt, approve, reject, rollback } from "./routes/decisions.ts";
import { graph } from "./routes/graph.ts";
import { livez, metrics, readyz } from "./routes/health.ts";
import { holders } from "./routes/holders.ts";
import { describeRoutes, describeRoutesAsHtml } from "./routes/index-page.ts";
import { events, samples } from "./routes/live.ts";
import { loadReporters, loads } from "./routes/loads.ts";
import { nodeHistory } from "./routes/node-history.ts";
import { nodeResources } from "./routes/node-resources.ts";
import { deliveries, nodes, streams } from "./routes/nodes.ts";
import { openapi } from "./routes/openapi.ts";
import { decisionPlan, plan } from "./routes/plan.ts";
import { progress } from "./routes/progress.ts";
import { resources } from "./routes/resources.ts";
import { difference, revision, revisions } from "./routes/revisions.ts";
import { layers, server, source } from "./routes/server.ts";
import type { AdminView } from "./view.ts";
import { writePage } from "./write-page.ts";

export interface AdminServerOptions {
  readonly view: AdminView;
  readonly metrics: Metrics;
  readonly deliveries: DeliveryTimes;
  /** Undefined: no port. Port 0: the system picks a free one. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  /** The path of a local socket, whose callers are operators. */
  readonly socket?: string | undefined;
  /** With it, the certificates of clients decide at the port, on loopback too. */
  readonly tls?: TlsFiles | undefined;
  readonly rules?: AdminRules;
  /** Decides with the role of a caller; without it the role alone does. */
  readonly access?: Pick<AccessPolicy, "grant">;
  /** Host names, besides IP addresses and localhost, that requests may use; `*` allows all. */
  readonly names?: readonly string[];
  /** Receives internal errors of routes. */
  readonly onFault?: (path: string, cause: unknown) => void;
  readonly onRefused?: (refused: AdminRefusal) => void;
  /** A request that is no read was answered. */
  readonly onChange?: (change: AdminChange) => void;
  readonly tlsReloads?: TlsReloads;
}

/** A caller without the role that it needs. */
export interface AdminRefusal {
  /** `host:port` of the caller. */
  readonly address: string;
  /** Its beginning, without the query. */
  readonly path: string;
  /** The names of its certificate, by kind. */
  readonly names: readonly string[];
}

/** A request of an operator that changes something, or tried to, for the audit. */
export interface AdminChange {
  /** `host:port` of the caller; undefined at the local socket. */
  readonly address: string | undefined;
  /** The names of its certificate, or where it came from. */
  readonly caller: string;
  readonly role: AdminRole;
  readonly method: string;
  /** Its beginning, without the query. */
  readonly path: string;
  /** The HTTP status. */
  readonly status: number;
}

/** Characters of a path that are reported. */
const MAX_PATH = 200;
const HANDSHAKE_MS = 10_000;
const nobody: AdminRules = { viewers: [], operators: [], insecure: false };

/** The admin API: resources, clients, deliveries and the history. */
export interface AdminServer {
  /** Starts listening. Rejects with the system's error if it cannot. */
  start(): Promise<{ readonly host: string; readonly port: number } | undefined>;
  /** Reloads the TLS files now. */
  reloadCertificates(): Promise<void>;
  /** Stops listening and ends open responses. */
  close(): Promise<void>;
}

/** The routes that anybody may ask. */
const probes: readonly Route[] = [livez, readyz, metrics];

/** Every route, in the order of the index. */
const routes: readonly Route[] = [
  ...probes,
  server,
  source,
  layers,
  resources,
  holders,
  graph,
  conversions,
  nodes,
  nodeResources,
  nodeHistory,
  streams,
  deliveries,
  progress,
  events,
  samples,
  revisions,
  revision,
  difference,
  plan,
  decisionPlan,
  approve,
  reject,
  rollback,
  adopt,
  loads,
  loadReporters,
  openapi,
  access,
  accessRules,
  accessClients,
  whoAsks,
];

export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { view, deliveries: times } = options;
  const taken = new Samples(view, times);
  const feed = new EventFeed(view);
  const sources: SharedSources = {
    view,
    deliveries: times,
    metrics: options.metrics,
    describe: new Describer(times, view),
    routes,
    feed,
    samples: taken,
  };
  const files = new ConsoleFiles();
  const serverFor = (callerAt: (socket: Socket) => AdminCaller): Server =>
    createServer((request, response) => {
      answerRequest(request, response, { sources, files, options, caller: callerAt(request.socket) }).catch(
        (cause: unknown) => {
          options.onFault?.(request.url ?? "", cause);
          fail(response);
        },
      );
    });
  return new ListeningAdmin(
    options,
    { samples: taken, feed },
    serverFor(callerOf),
    serverFor(() => ({ kind: "socket" })),
  );
}

class ListeningAdmin implements AdminServer {
  readonly #options: AdminServerOptions;
  readonly #live: Pick<AdminSources, "samples" | "feed">;
  readonly #atPort: Server;
  readonly #atPath: Server;
  readonly #secured = new Set<Socket>();
  #tls: TlsListener | undefined;

  constructor(
    options: AdminServerOptions,
    live: Pick<AdminSources, "samples" | "feed">,
    atPort: Server,
    atPath: Server,
  ) {
    this.#options = options;
    this.#live = live;
    this.#atPort = atPort;
    this.#atPath = atPath;
  }

  async start(): Promise<{ readonly host: string; readonly port: number } | undefined> {
    const { listen: address, socket, tls } = this.#options;
    if (socket !== undefined) await listenAtPath(this.#atPath, socket);
    this.#live.samples.start();
    if (address === undefined) return undefined;
    return await listen(tls === undefined ? this.#atPort : await this.#openTls(tls), address);
  }

  async #openTls(files: TlsFiles): Promise<NetServer> {
    const nothing = { onReloaded: () => undefined, onRefused: () => undefined };
    this.#tls = await TlsListener.open(
      // Health and metrics are for callers without a certificate too.
      { ...files, requireClientCertificate: false },
      {
        onSocket: (socket) => this.#take(socket),
        // The role of a connection ends with its certificate; one that only expires soon keeps it.
        onNotice: (socket, notice) => {
          if (notice !== "expiring") socket.destroy();
        },
        handshakeTimeoutMs: HANDSHAKE_MS,
        protocols: ["http/1.1"],
      },
      this.#options.tlsReloads ?? nothing,
    );
    return this.#tls.server;
  }

  #take(socket: Socket): void {
    this.#secured.add(socket);
    socket.once("close", () => this.#secured.delete(socket));
    this.#atPort.emit("connection", socket);
  }

  async reloadCertificates(): Promise<void> {
    await this.#tls?.reload();
  }

  async close(): Promise<void> {
    this.#live.samples.close();
    this.#live.feed.close();
    this.#tls?.close();
    const closing = Promise.all([this.#atPort, this.#atPath, this.#tls?.server].map((server) => closed(server)));
    for (const server of [this.#atPort, this.#atPath]) server.closeAllConnections();
    for (const socket of this.#secured) socket.destroy();
    await closing;
  }
}

interface Called {
  readonly sources: SharedSources;
  readonly files: ConsoleFiles;
  readonly options: AdminServerOptions;
  readonly caller: AdminCaller;
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { sources, files, options, caller }: Called,
): Promise<void> {
  if (request.method !== "POST") request.resume();
  response.setHeader("cache-control", "no-store");
  response.setHeader("x-content-type-options", "nosniff");
  // No browser reaches the local socket.
  if (caller.kind !== "socket" && !isExpectedHost(request.headers.host, options.names ?? [])) {
    refuse(response, 403, { error: "unexpected Host header", hint: "use an address or localhost" });
    return;
  }
  // A link from elsewhere may lead here; what a page of another site asks for by itself is refused.
  const { "sec-fetch-site": site, "sec-fetch-mode": mode } = request.headers;
  if (site === "cross-site" && mode !== "navigate") {
    refuse(response, 403, { error: "a page of another site may not ask" });
    return;
  }
  const isRead = request.method === "GET" || request.method === "HEAD";
  const isChange = !isRead && !readsOnly(request.url);
  const entryPoint = entryPointOf(request.url, !isChange);
  const role = roleOf(caller, options.rules ?? nobody);
  if (!isAdmitted(request, entryPoint, { caller, role, options })) {
    refuseCaller(request, response, caller, { entryPoint, options });
    return;
  }
  // Whom an access rule lets in without a role may change things, as an operator may.
  if (isChange) audit(request, response, { caller, role: role ?? "operator", options });
  if (!isRead && request.method !== "POST") {
    response.setHeader("allow", "GET, HEAD, POST");
    refuse(response, 405, { error: `method ${request.method} is not allowed` });
    return;
  }
  // A page of another site could post to a server on the browser's own machine.
  if (!isRead && caller.kind !== "socket" && !mayDecide(request.headers, options.names ?? [])) {
    const hint = "use the console at an address, localhost or a name in admin-names, the xds command or curl";
    refuse(response, 403, { error: "a page of another origin may not change anything", hint });
    return;
  }
  const asked = {
    target: request.url ?? "/",
    method: isRead ? undefined : ("POST" as const),
    wantsHtml: request.headers.accept?.includes("text/html") === true,
  };
  const mayChange = (): boolean => isAdmitted(request, "admin-change", { caller, role, options });
  const answering = { ...sources, author: describeCaller(caller), role, mayChange };
  const answer = await findAnswer(asked, answering, files, bodyOf(request));
  if (request.method === "HEAD") {
    response.writeHead(("status" in answer ? answer.status : undefined) ?? 200).end();
    return;
  }
  await write(answer, { request, response, mayRead: () => isAdmitted(request, entryPoint, { caller, role, options }) });
}

/** The connection stays open if a route stops reading: Node drops the rest of a body once the response has ended. */
function bodyOf(request: IncomingMessage): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) };
}

interface AnswerToWrite {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the access rules still let the caller in. */
  readonly mayRead: () => boolean;
}

type AdminEntryPoint = Extract<EntryPoint, "health" | "metrics" | "admin" | "admin-change">;

/** Health for orchestrators and metrics for scrapers are entry points of their own. */
function entryPointOf(target: string | undefined, isRead: boolean): AdminEntryPoint {
  if (!isRead) return "admin-change";
  const path = target?.replace(/[?#].*$/s, "");
  if (path === metrics.path) return "metrics";
  return probes.some((route) => route.path === path) ? "health" : "admin";
}

/** Whether a request that is no GET changes nothing anyway. */
function readsOnly(target: string | undefined): boolean {
  const path = target?.replace(/[?#].*$/s, "");
  return routes.some((route) => route.path === path && route.isRead === true);
}

/** The local socket always works. */
function isAdmitted(
  request: IncomingMessage,
  entryPoint: AdminEntryPoint,
  { caller, role, options }: Pick<Called, "caller" | "options"> & { readonly role: AdminRole | undefined },
): boolean {
  if (caller.kind === "socket") return true;
  const claim: AccessClaim = { entryPoint, peer: describePeer(request.socket), node: undefined, role };
  return !("denied" in (options.access ?? byRole).grant(claim, []));
}

const byRole = defaultAccess({ isSecret: () => true });
/** Reports the request once it was answered, or its caller went away. */
function audit(
  request: IncomingMessage,
  response: ServerResponse,
  { caller, role, options }: { caller: AdminCaller; role: AdminRole; options: AdminServerOptions },
): void {
  const address = addressOf(request.socket);
  const { method = "" } = request;
  response.once("close", () => {
    const { statusCode: status } = response;
    options.onChange?.({ address, caller: describeCaller(caller), role, method, path: pathOf(request), status });
  });
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.slice(0, MAX_PATH).replace(/[?#].*$/s, "");
}

/** Says the same whether there is something at the path or not. */
function refuseCaller(
  request: IncomingMessage,
  response: ServerResponse,
  caller: AdminCaller,
  { entryPoint, options }: { readonly entryPoint: AdminEntryPoint; readonly options: AdminServerOptions },
): void {
  const names = caller.kind === "tls" ? caller.names : [];
  options.onRefused?.({ address: addressOf(request.socket) ?? "", path: pathOf(request), names });
  const hint =
    caller.kind === "tls"
      ? "name your client certificate in admin-viewers or admin-operators"
      : "ask from that machine, at its local socket (admin-socket), or over TLS with a client certificate (admin-tls)";
  const isProbe = entryPoint === "health" || entryPoint === "metrics";
  const error = isProbe ? `you may not read ${entryPoint} here` : "you may read health and metrics only";
  refuse(response, 403, { error, hint });
}

interface AdminQuestion {
  readonly target: string;
  readonly method: Route["method"];
  readonly wantsHtml: boolean;
}

async function findAnswer(
  { target, method, wantsHtml }: AdminQuestion,
  sources: AdminSources,
  files: ConsoleFiles,
  body: AsyncIterable<Uint8Array>,
): Promise<AdminAnswer> {
  try {
    const url = new URL(target, "http://admin");
    if (url.pathname === "/" && method === undefined) return indexPage(wantsHtml, sources);
    // Relative, so that a path prefix of a proxy stays.
    if (`${url.pathname}/` === CONSOLE_PATH) return { kind: "redirect", to: `.${CONSOLE_PATH}` };
    const file = url.pathname.startsWith(CONSOLE_PATH) ? await files.at(url.pathname) : undefined;
    if (file !== undefined) return file;
    const found = findRoute(url.pathname);
    if (found === undefined)
      throw new QueryError(404, `there is nothing at ${url.pathname}`, "GET / lists what there is");
    const { route, inPath } = found;
    if (route.method !== method)
      return errorAnswer(405, `${url.pathname} takes ${route.method ?? "GET"} requests`, "GET / lists what there is");
    const query = new Query(url.searchParams, Object.keys(route.parameters), inPath);
    return await begin(await route.answer(sources, query, body));
  } catch (cause) {
    if (cause instanceof QueryError) return errorAnswer(cause.status, cause.message, cause.hint);
    if (cause instanceof TypeError && "code" in cause && cause.code === "ERR_INVALID_URL") {
      return errorAnswer(400, "the target is no URL");
    }
    throw cause;
  }
}

/** Finds the route of a path; one segment of a route may be a parameter: `{revision}`. */
function findRoute(path: string): { readonly route: Route; readonly inPath: ReadonlyMap<string, string> } | undefined {
  for (const route of routes) {
    if (route.path === path) return { route, inPath: new Map() };
    const [start = "", name, end = ""] = route.path.split(/[{}]/);
    if (name === undefined || !path.startsWith(start) || !path.endsWith(end)) continue;
    const value = path.slice(start.length, path.length - end.length);
    if (value !== "" && !value.includes("/")) return { route, inPath: new Map([[name, decodePath(value)]]) };
  }
  return undefined;
}

function decodePath(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new QueryError(400, "the path is not valid UTF-8");
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

async function write(answer: AdminAnswer, { request, response, mayRead }: AnswerToWrite): Promise<void> {
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
  const isCompressed = /\bgzip\b/.test(request.headers["accept-encoding"]?.toString() ?? "");
  const sent = isCompressed ? compressed : body;
  response.writeHead(200, {
    ...headers,
    ...(isCompressed && { "content-encoding": "gzip" }),
    "content-length": sent.byteLength,
    vary: "accept-encoding",
  });
  response.end(sent);
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

function listen(
  server: NetServer,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address = server.address();
      // A server that listens at a host and port has an address that is neither a pipe nor nothing.
      if (address === null || typeof address === "string") reject(new Error("the admin API has no address"));
      else resolve({ host: address.address, port: address.port });
    });
  });
}

function closed(server: NetServer | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (server === undefined) resolve();
    else server.close(() => resolve());
  });
}
