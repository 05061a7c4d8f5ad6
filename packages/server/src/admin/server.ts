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
import { type AdminCaller, type AdminRules, callerOf, roleOf } from "./access.ts";
import type { ErrorAnswer } from "./answers/page.ts";
import { Describer } from "./describe.ts";
import { listenAtPath } from "./local-socket.ts";
import { Query, QueryError } from "./query.ts";
import type { AdminAnswer, AdminSources, Route } from "./route.ts";
import { access, accessClients, accessRules } from "./routes/access.ts";
import { conversions } from "./routes/conversions.ts";
import { livez, metrics, readyz } from "./routes/health.ts";
import { describeRoutes, describeRoutesAsHtml } from "./routes/index-page.ts";
import { loadReporters, loads } from "./routes/loads.ts";
import { deliveries, nodes, streams } from "./routes/nodes.ts";
import { progress } from "./routes/progress.ts";
import { resources } from "./routes/resources.ts";
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
  readonly tlsReloads?: TlsReloads;
}

/** A caller without the role that it needs. */
export interface AdminRefusal {
  /** `host:port` of the caller. */
  readonly address: string;
  readonly path: string;
  /** The names of its certificate, by kind. */
  readonly names: readonly string[];
}

const HANDSHAKE_MS = 10_000;
const nobody: AdminRules = { viewers: [], operators: [], insecure: false };

/** The read-only admin API: resources, clients and deliveries. */
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
  conversions,
  nodes,
  streams,
  deliveries,
  progress,
  loads,
  loadReporters,
  access,
  accessRules,
  accessClients,
];

export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { view, deliveries: times } = options;
  const sources: AdminSources = {
    view,
    deliveries: times,
    metrics: options.metrics,
    describe: new Describer(times, view.types),
  };
  const serverFor = (callerAt: (socket: Socket) => AdminCaller): Server =>
    createServer((request, response) => {
      answerRequest(request, response, { sources, options, caller: callerAt(request.socket) }).catch(
        (cause: unknown) => {
          options.onFault?.(request.url ?? "", cause);
          fail(response);
        },
      );
    });
  return new ListeningAdmin(
    options,
    serverFor(callerOf),
    serverFor(() => ({ kind: "socket" })),
  );
}

class ListeningAdmin implements AdminServer {
  readonly #options: AdminServerOptions;
  readonly #atPort: Server;
  readonly #atPath: Server;
  readonly #secured = new Set<Socket>();
  #tls: TlsListener | undefined;

  constructor(options: AdminServerOptions, atPort: Server, atPath: Server) {
    this.#options = options;
    this.#atPort = atPort;
    this.#atPath = atPath;
  }

  async start(): Promise<{ readonly host: string; readonly port: number } | undefined> {
    const { listen: address, socket, tls } = this.#options;
    if (socket !== undefined) await listenAtPath(this.#atPath, socket);
    if (address === undefined) return undefined;
    return await listen(tls === undefined ? this.#atPort : await this.#openTls(tls), address);
  }

  async #openTls(files: TlsFiles): Promise<NetServer> {
    const nothing = { onReloaded: () => undefined, onRefused: () => undefined };
    this.#tls = await TlsListener.open(
      // Health and metrics are for callers without a certificate too.
      { ...files, requireClientCertificate: false },
      { onSocket: (socket) => this.#take(socket), handshakeTimeoutMs: HANDSHAKE_MS, protocols: ["http/1.1"] },
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
    this.#tls?.close();
    const closing = Promise.all([this.#atPort, this.#atPath, this.#tls?.server].map((server) => closed(server)));
    for (const server of [this.#atPort, this.#atPath]) server.closeAllConnections();
    for (const socket of this.#secured) socket.destroy();
    await closing;
  }
}

interface Called {
  readonly sources: AdminSources;
  readonly options: AdminServerOptions;
  readonly caller: AdminCaller;
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { sources, options, caller }: Called,
): Promise<void> {
  // Request bodies are discarded: the API only reads.
  request.resume();
  response.setHeader("cache-control", "no-store");
  response.setHeader("x-content-type-options", "nosniff");
  // No browser reaches the local socket.
  if (caller.kind !== "socket" && !isExpectedHost(request.headers.host, options.names ?? [])) {
    refuse(response, 403, { error: "unexpected Host header", hint: "use an address or localhost" });
    return;
  }
  const isRead = request.method === "GET" || request.method === "HEAD";
  const entryPoint = entryPointOf(request.url, isRead);
  if (!isAdmitted(request, entryPoint, { caller, options })) {
    refuseCaller(request, response, caller, { entryPoint, options });
    return;
  }
  if (!isRead) {
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

type AdminEntryPoint = Extract<EntryPoint, "health" | "metrics" | "admin" | "admin-change">;

/** Health for orchestrators and metrics for scrapers are entry points of their own. */
function entryPointOf(target: string | undefined, isRead: boolean): AdminEntryPoint {
  if (!isRead) return "admin-change";
  const path = target?.replace(/[?#].*$/s, "");
  if (path === metrics.path) return "metrics";
  return probes.some((route) => route.path === path) ? "health" : "admin";
}

/** The local socket always works. */
function isAdmitted(
  request: IncomingMessage,
  entryPoint: AdminEntryPoint,
  { caller, options }: Pick<Called, "caller" | "options">,
): boolean {
  if (caller.kind === "socket") return true;
  const role = roleOf(caller, options.rules ?? nobody);
  const claim: AccessClaim = { entryPoint, peer: describePeer(request.socket), node: undefined, role };
  return !("denied" in (options.access ?? byRole).grant(claim, []));
}

const byRole = defaultAccess({ isSecret: () => true });

/** Says the same whether there is something at the path or not. */
function refuseCaller(
  request: IncomingMessage,
  response: ServerResponse,
  caller: AdminCaller,
  { entryPoint, options }: { readonly entryPoint: AdminEntryPoint; readonly options: AdminServerOptions },
): void {
  const names = caller.kind === "tls" ? caller.names : [];
  options.onRefused?.({ address: addressOf(request.socket) ?? "", path: request.url ?? "", names });
  const hint =
    caller.kind === "tls"
      ? "name your client certificate in admin-viewers or admin-operators"
      : "ask from that machine, at its local socket (admin-socket), or over TLS with a client certificate (admin-tls)";
  const isProbe = entryPoint === "health" || entryPoint === "metrics";
  const error = isProbe ? `you may not read ${entryPoint} here` : "you may read health and metrics only";
  refuse(response, 403, { error, hint });
}

async function findAnswer(target: string, wantsHtml: boolean, sources: AdminSources): Promise<AdminAnswer> {
  try {
    const url = new URL(target, "http://admin");
    if (url.pathname === "/") return indexPage(wantsHtml, sources);
    const found = findRoute(url.pathname);
    if (found === undefined)
      throw new QueryError(404, `there is nothing at ${url.pathname}`, "GET / lists what there is");
    const { route, inPath } = found;
    const query = new Query(url.searchParams, Object.keys(route.parameters), inPath);
    return await begin(await route.answer(sources, query));
  } catch (cause) {
    if (cause instanceof QueryError) return errorAnswer(cause.status, cause.message, cause.hint);
    if (cause instanceof TypeError && "code" in cause && cause.code === "ERR_INVALID_URL") {
      return errorAnswer(400, "the target is no URL");
    }
    throw cause;
  }
}

/** Finds the route of a path; the last segment of a route may be a parameter: `{revision}`. */
function findRoute(path: string): { readonly route: Route; readonly inPath: ReadonlyMap<string, string> } | undefined {
  const last = path.lastIndexOf("/") + 1;
  for (const route of routes) {
    if (route.path === path) return { route, inPath: new Map() };
    const [start = "", name] = route.path.split(/[{}]/);
    const value = path.slice(last);
    if (name !== undefined && start === path.slice(0, last) && value !== "")
      return { route, inPath: new Map([[name, decodePath(value)]]) };
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
