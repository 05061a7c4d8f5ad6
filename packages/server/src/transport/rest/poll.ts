import { decodeJsonRequest, NodeSizeError, type RestPath, restPaths, WireError } from "@xdskit/envoy-api/internal";
import { messageNameOf, type Status } from "@xdskit/protocol";
import { type Body, type PollId, type SotwRequest, statusCode } from "@xdskit/protocol/internal";
import { accountOf } from "../../hub/account.ts";
import type { PollHandle } from "../../hub/poll-registry.ts";
import type { HubPort } from "../../hub/port.ts";
import { SliceQueue } from "../../slice-queue.ts";
import { refuseNode } from "../node-limit.ts";
import type { RestExchange } from "./exchange.ts";
import type { RestBodies } from "./rest-bodies.ts";
import { httpStatusOf, JSON_HEADERS, respondWithError } from "./rest-error.ts";
import type { RestHandler } from "./rest-server.ts";

/** A name of a poll is found, printed, copied and written: it costs as much as this many items of other slices. */
const ITEMS_PER_NAME = 4;

/** Options of JSON discovery. */
export interface PollingOptions {
  readonly hold: HoldOptions;
  readonly bodies: RestBodies;
}

/** Handlers of every polling path of requirements 1.2 (B-RST-01). */
export function pollHandlers(options: PollingOptions): ReadonlyMap<string, RestHandler> {
  const requests = new SliceQueue();
  return new Map(restPaths.map((path) => [path.path, pollHandler(path, requests, options)]));
}

function pollHandler(path: RestPath, requests: SliceQueue, { hold, bodies }: PollingOptions): RestHandler {
  return async (exchange, bytes, hub) => {
    const request = await readRequest(path, bytes, { exchange, hub, requests });
    if ("code" in request) {
      respondWithError(exchange, httpStatusOf(request), request);
      return;
    }
    const holdMs = holdOf(exchange.header("x-envoy-expected-rq-timeout-ms"), hold);
    const handle = new PollAnswer(exchange, hub, bodies);
    const { connection } = exchange;
    const type = request.type ?? path.type;
    const { apiVersion } = path;
    handle.wait(
      hub.poll({ connection, path: path.path, apiVersion, type, request, bytes: bytes.length, holdMs }, handle),
    );
  };
}

/**
 * Decodes a request of the path's type, in either API version (S-TYP-06), in slices of the event loop; what the names of
 * a request cost counts with them (docs/decisions/0045).
 */
async function readRequest(
  { path, type, twin }: RestPath,
  bytes: Uint8Array,
  { exchange, hub, requests }: PollParts,
): Promise<SotwRequest | Status> {
  const { peer } = exchange;
  let request: SotwRequest;
  try {
    const steps = decodeJsonRequest(bytes, hub.limits.maxNodeBytes);
    request = await requests.finish(accountOf(peer).key, steps, ({ names }) => ITEMS_PER_NAME * names.length);
  } catch (error) {
    if (error instanceof NodeSizeError) return refuseNode(hub, peer.address, error);
    if (!(error instanceof WireError)) throw error;
    return { code: statusCode.INVALID_ARGUMENT, message: `not a DiscoveryRequest in JSON: ${error.message}` };
  }
  if (request.type === undefined || request.type === type || request.type === twin) return request;
  const message = `${path} serves ${messageNameOf(type)}, not ${messageNameOf(request.type).slice(0, 200)}`;
  return { code: statusCode.INVALID_ARGUMENT, message };
}

interface PollParts {
  readonly exchange: RestExchange;
  readonly hub: HubPort;
  readonly requests: SliceQueue;
}

/** The HTTP response of one poll. */
class PollAnswer implements PollHandle {
  readonly #exchange: RestExchange;
  readonly #hub: HubPort;
  readonly #bodies: RestBodies;

  constructor(exchange: RestExchange, hub: HubPort, bodies: RestBodies) {
    this.#exchange = exchange;
    this.#hub = hub;
    this.#bodies = bodies;
  }

  /** Holds the poll until its response; abandons it if the client disconnects (S-RST-11). */
  wait(poll: PollId | undefined): void {
    if (poll === undefined) return;
    this.#exchange.onAbort(() => this.#hub.abandonPoll(poll));
    this.#exchange.onDismiss(() => {
      this.#hub.abandonPoll(poll);
      this.unchanged();
    });
  }

  answer(body: Body, poller: PollId): void {
    this.#bodies.give(body, this.#exchange.header("accept-encoding"), {
      take: ({ bytes, headers }) => {
        this.#exchange.respond(200, { ...JSON_HEADERS, ...headers }, bytes);
        const { type, variant } = body;
        this.#hub.report({ kind: "response-queued", stream: poller, type, variant, bytes: bytes.length });
      },
      fail: (error) => {
        this.#hub.report({ kind: "invariant-broken", stream: poller, during: "send", error });
        this.refuse({ code: statusCode.INTERNAL, message: "internal server error; see the log" });
      },
    });
  }

  /** Responds with 304 and no body (S-RST-03). */
  unchanged(): void {
    this.#exchange.respond(304, {});
  }

  refuse(status: Status): void {
    respondWithError(this.#exchange, httpStatusOf(status), status);
  }
}

/** How long polls are held while nothing changes. */
interface HoldOptions {
  /**
   * Milliseconds if the client does not send its timeout; less than the default client timeout of one second
   * (S-RST-11).
   */
  readonly holdMs: number;
  /** Maximum in milliseconds, whatever the client sends. */
  readonly maxHoldMs: number;
}

/** Share of the client's timeout that is used: the response must arrive within it. */
const SHARE = 0.8;

/** Milliseconds to hold a poll, given the client's timeout header. */
function holdOf(timeoutHeader: string | undefined, { holdMs, maxHoldMs }: HoldOptions): number {
  const timeoutMs = /^\d{1,15}$/.test(timeoutHeader ?? "") ? Number(timeoutHeader) : 0;
  return Math.min(maxHoldMs, timeoutMs > 0 ? Math.floor(timeoutMs * SHARE) : holdMs);
}
