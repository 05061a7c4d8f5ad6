import { startTimer } from "@xdskit/disk";
import { pathsWithoutRest } from "@xdskit/envoy-api/internal";
import { statusCode } from "@xdskit/protocol/internal";
import { accountOf } from "../../hub/account.ts";
import type { HubPort } from "../../hub/port.ts";
import { tooFragmented } from "../fragment-count.ts";
import type { RestExchange } from "./exchange.ts";
import { mayPoll } from "./page-check.ts";
import { httpStatusOf, respondWithError } from "./rest-error.ts";

/** Handles a request after its body was read. Responds now or later; what it throws is an internal error. */
export type RestHandler = (exchange: RestExchange, body: Uint8Array, hub: HubPort) => Promise<void> | void;

export interface RestServerOptions {
  /** Handlers by path, such as `/v3/discovery:clusters`; all take POST with JSON. */
  readonly handlers: ReadonlyMap<string, RestHandler>;
  readonly maxRequestBytes: number;
  /** Host names, besides IP addresses and localhost, of pages that may poll; `*` allows all pages. */
  readonly pageNames?: readonly string[];
}

/** Routes a request to its handler after reading the body; rejects invalid requests (S-RST-19). */
export class RestServer {
  readonly #options: RestServerOptions;

  constructor(options: RestServerOptions) {
    this.#options = options;
  }

  /** Whether this server handles a request that is not gRPC. */
  owns(target: string): boolean {
    return /^\/v\d\//.test(pathOf(target));
  }

  serve(exchange: RestExchange, hub: HubPort): void {
    const path = pathOf(exchange.target);
    const handler = this.#options.handlers.get(path);
    if (!mayPoll(exchange, this.#options.pageNames ?? [])) {
      refusePage(exchange, hub);
    } else if (handler === undefined) {
      refuseUnknownPath(exchange, path);
    } else if (exchange.method !== "POST") {
      const message = `expected POST at ${path}, got ${exchange.method}`;
      respondWithError(exchange, 405, { code: statusCode.UNIMPLEMENTED, message }, { allow: "POST" });
    } else if (!refuseEncoding(exchange)) {
      void this.#read(exchange, handler, hub);
    }
  }

  async #read(exchange: RestExchange, handler: RestHandler, hub: HubPort): Promise<void> {
    const { maxRequestBytes: maxBytes } = this.#options;
    const { address } = exchange.peer;
    const { maxMessageMs: withinMs, maxSmallFragments } = hub.limits;
    const isAnnouncedTooLong = Number(exchange.header("content-length") ?? 0) > maxBytes;
    try {
      const account = accountOf(exchange.peer);
      const held = hub.budget.open(account);
      const body = isAnnouncedTooLong
        ? "too-long"
        : await exchange.readBody({ maxBytes, maxSmallFragments, withinMs, held });
      if (body === "too-slow") {
        const message = `the body of the request did not arrive within ${withinMs} ms (maxMessageMs)`;
        hub.reportLimit("maxMessageMs", address, message);
        respondWithError(exchange, 408, { code: statusCode.DEADLINE_EXCEEDED, message }, { connection: "close" });
      } else if (body === "too-fragmented") {
        const status = { code: statusCode.RESOURCE_EXHAUSTED, message: tooFragmented(maxSmallFragments) };
        hub.reportLimit("maxSmallFragments", address, status.message);
        respondWithError(exchange, httpStatusOf(status), status, { connection: "close" });
      } else if (body === "too-long") {
        const message = `expected at most ${maxBytes} bytes in a request, got more (maxRestRequestBytes)`;
        hub.reportLimit("maxRestRequestBytes", address, message);
        respondWithError(exchange, 413, { code: statusCode.RESOURCE_EXHAUSTED, message });
      } else if ("limit" in body) {
        hub.reportLimit(body.limit, address, body.status.message);
        respondWithError(exchange, httpStatusOf(body.status), body.status, { connection: "close" });
      } else {
        // A body counts until it is processed: the handler may let it wait for those of others.
        const passed = held.hold(body.byteLength);
        if (passed !== undefined) {
          hub.reportLimit(passed.limit, address, passed.status.message);
          respondWithError(exchange, httpStatusOf(passed.status), passed.status, { connection: "close" });
          return;
        }
        try {
          const delayMs = hub.delayRequest(account, address);
          if (delayMs > 0) await new Promise<void>((resolve) => startTimer(delayMs, resolve));
          await handler(exchange, body, hub);
        } finally {
          held.hold(0);
        }
      }
    } catch (error) {
      hub.report({ kind: "invariant-broken", stream: undefined, during: `rest ${pathOf(exchange.target)}`, error });
      const message = "internal server error; see the log";
      respondWithError(exchange, 500, { code: statusCode.INTERNAL, message });
    }
  }
}

/** The path without scheme, host and query; a colon may be escaped (B-RST-21). */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/]*/i, "").replace(/[?#].*$/s, "");
  return path.replaceAll(/%3a/gi, ":");
}

/** Rejects a page at once, before its body is read. */
function refusePage(exchange: RestExchange, hub: HubPort): void {
  const { authority = "", peer } = exchange;
  hub.report({ kind: "page-refused", address: peer.address, host: authority, origin: exchange.header("origin") });
  const message = "a page in a browser may poll only from its own origin, at an IP address, localhost or rest.names";
  respondWithError(exchange, 403, { code: statusCode.PERMISSION_DENIED, message });
}

function refuseUnknownPath(exchange: RestExchange, path: string): void {
  const reason = pathsWithoutRest.get(path) ?? "expected a path such as /v3/discovery:clusters";
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  respondWithError(exchange, 404, { code: statusCode.NOT_FOUND, message: `nothing is served at ${shown}: ${reason}` });
}

/** Rejects a body that is not declared as JSON; returns whether it did. */
function refuseEncoding(exchange: RestExchange): boolean {
  const contentType = exchange.header("content-type") ?? "";
  const encoding = exchange.header("content-encoding") ?? "identity";
  const isJson = contentType === "" || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType.trim());
  const wrong = isJson ? (encoding === "identity" ? undefined : `content-encoding ${encoding}`) : contentType;
  if (wrong === undefined) return false;
  const message = `expected a body of content-type application/json, not compressed, got ${wrong.slice(0, 100)}${isJson ? "" : " (curl: -H 'content-type: application/json')"}`;
  respondWithError(exchange, 415, { code: statusCode.INVALID_ARGUMENT, message });
  return true;
}
