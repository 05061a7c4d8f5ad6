import type { EnvoyApi } from "@xdskit/envoy-api";
import { createJsonBodyEncoder, restPaths } from "@xdskit/envoy-api/internal";
import { statusCode } from "@xdskit/protocol/internal";
import { nextTurn } from "../../next-turn.ts";
import type { RestOptions } from "../../options.ts";
import { pollHandlers } from "./poll.ts";
import { RestBodies } from "./rest-bodies.ts";
import { respondWithError } from "./rest-error.ts";
import { type RestHandler, RestServer } from "./rest-server.ts";

export interface RestServices {
  readonly api: EnvoyApi;
  readonly controlPlane: string;
  readonly maxRequestBytes: number;
  /** `false`: every discovery path responds that REST is off. */
  readonly rest: Required<RestOptions> | false;
  /** Handlers besides discovery by path: client status, health discovery. */
  readonly further: ReadonlyMap<string, RestHandler>;
}

/** Creates the REST server with all paths. */
export function createRestServer({ api, controlPlane, maxRequestBytes, rest, further }: RestServices): RestServer {
  if (rest === false)
    return new RestServer({ handlers: new Map([...restPaths.map(offAt), ...further]), maxRequestBytes });
  const bodies = new RestBodies(
    createJsonBodyEncoder({ print: (type, bytes) => api.toJson(type, bytes), controlPlane, pause: nextTurn }),
  );
  return new RestServer({
    handlers: new Map([...pollHandlers({ hold: rest, bodies }), ...further]),
    maxRequestBytes,
    pageNames: rest.names,
  });
}

function offAt({ path }: (typeof restPaths)[number]): readonly [string, RestHandler] {
  const status = { code: statusCode.NOT_FOUND, message: "REST is switched off here (rest.enabled); use gRPC" };
  return [path, (exchange) => respondWithError(exchange, 404, status)];
}
