import type { IncomingMessage, ServerResponse } from "node:http";
import { type AccessClaim, type AccessPolicy, defaultAccess } from "@xdskit/protocol/internal";
import { isExpectedHost } from "../expected-host.ts";
import { addressOf, describePeer } from "../transport/peer.ts";
import { type AdminCaller, type AdminRole, type AdminRules, describeCaller, roleOf } from "./access.ts";
import type { ConsoleFiles } from "./console.ts";
import { findAnswer } from "./find-answer.ts";
import { mayDecide } from "./page-check.ts";
import type { SharedSources } from "./route.ts";
import { type AdminEntryPoint, entryPointOf, readsOnly } from "./route-table.ts";
import { refuse, writeAnswer } from "./write-answer.ts";

/** A caller without the role that it needs. */
export interface AdminRefusal {
  /** `host:port` of the caller. */
  readonly address: string;
  readonly method: string;
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

/** Who may ask what, and who is told of it. */
export interface AdminAdmissionOptions {
  readonly rules?: AdminRules;
  /** Decides with the role of a caller; without it the role alone does. */
  readonly access?: Pick<AccessPolicy, "grant">;
  /** Host names, besides IP addresses and localhost, that requests may use; `*` allows all. */
  readonly names?: readonly string[];
  readonly onRefused?: (refused: AdminRefusal) => void;
  /** A request that is no read was answered. */
  readonly onChange?: (change: AdminChange) => void;
}

/** Characters of a path that are reported. */
const MAX_PATH = 200;
const nobody: AdminRules = { viewers: [], operators: [], insecure: false };

interface Called {
  readonly sources: SharedSources;
  readonly files: ConsoleFiles;
  readonly options: AdminAdmissionOptions;
  readonly caller: AdminCaller;
  /** The caller has a role, or the access rules let it ask for more than health and metrics. */
  readonly onKnown: () => void;
  /** How long the caller may take to read the answer, in milliseconds. */
  readonly withinMs: number;
}

/** Answers a request if its caller may make it. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { sources, files, options, caller, onKnown, withinMs }: Called,
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
  if (role !== undefined || !isProbe(entryPoint)) onKnown();
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
  const left = new AbortController();
  response.once("close", () => left.abort());
  const answering = { ...sources, author: describeCaller(caller), role, mayChange, left: left.signal };
  const answer = await findAnswer(asked, answering, files, bodyOf(request));
  if (request.method === "HEAD") {
    response.writeHead(("status" in answer ? answer.status : undefined) ?? 200).end();
    return;
  }
  await writeAnswer(answer, {
    request,
    response,
    mayRead: () => isAdmitted(request, entryPoint, { caller, role, options }),
    withinMs,
  });
}

/** The connection stays open if a route stops reading: Node drops the rest of a body once the response has ended. */
function bodyOf(request: IncomingMessage): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) };
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
  { caller, role, options }: { caller: AdminCaller; role: AdminRole; options: AdminAdmissionOptions },
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

function isProbe(entryPoint: AdminEntryPoint): boolean {
  return entryPoint === "health" || entryPoint === "metrics";
}

/** Says the same whether there is something at the path or not. */
function refuseCaller(
  request: IncomingMessage,
  response: ServerResponse,
  caller: AdminCaller,
  { entryPoint, options }: { readonly entryPoint: AdminEntryPoint; readonly options: AdminAdmissionOptions },
): void {
  const names = caller.kind === "tls" ? caller.names : [];
  const { method = "" } = request;
  options.onRefused?.({ address: addressOf(request.socket) ?? "", method, path: pathOf(request), names });
  const hint =
    caller.kind === "tls"
      ? "name your client certificate in admin-viewers or admin-operators"
      : "ask from that machine, at its local socket (admin-socket), or over TLS with a client certificate (admin-tls)";
  const error = isProbe(entryPoint) ? `you may not read ${entryPoint} here` : "you may read health and metrics only";
  refuse(response, 403, { error, hint });
}
