import type { EnvoyApi } from "@xdskit/envoy-api";
import { type ApiVersion, statusCode } from "@xdskit/protocol";
import type { HubPort } from "../hub/port.ts";
import type { RestExchange } from "../transport/rest/exchange.ts";
import { httpStatusOf, JSON_HEADERS, respondWithError } from "../transport/rest/rest-error.ts";
import type { RestHandler } from "../transport/rest/rest-server.ts";
import type { ClientStatus } from "./client-status.ts";
import { answerClientStatusJson } from "./json.ts";

const versions: readonly ApiVersion[] = ["v2", "v3"];

/** Client status in JSON, in both versions (requirements 1.2, S-CSD-01). */
export function clientStatusHandlers(
  status: ClientStatus,
  api: Pick<EnvoyApi, "readMessage" | "toJson">,
): ReadonlyMap<string, RestHandler> {
  return new Map(
    versions.map((version): [string, RestHandler] => [
      `/${version}/discovery:client_status`,
      (exchange, bytes, hub) => void answer(exchange, bytes, hub, { status, api, version }),
    ]),
  );
}

async function answer(
  exchange: RestExchange,
  bytes: Uint8Array,
  hub: HubPort,
  {
    status,
    api,
    version,
  }: { status: ClientStatus; api: Pick<EnvoyApi, "readMessage" | "toJson">; version: ApiVersion },
): Promise<void> {
  try {
    const said = await answerClientStatusJson(status, api, version, parse(bytes), exchange.peer);
    if ("text" in said) {
      exchange.respond(200, JSON_HEADERS, Buffer.from(said.text));
      return;
    }
    if (said.code === statusCode.RESOURCE_EXHAUSTED) {
      hub.reportLimit("maxStatusBytes", exchange.peer.address, said.message);
    }
    respondWithError(exchange, httpStatusOf(said), said);
  } catch (error) {
    if (error instanceof SyntaxError) {
      const message = `not JSON: ${error.message}`;
      respondWithError(exchange, 400, { code: statusCode.INVALID_ARGUMENT, message });
      return;
    }
    hub.report({ kind: "invariant-broken", stream: undefined, during: "client status", error });
    respondWithError(exchange, 500, {
      code: statusCode.INTERNAL,
      message: "the server made a mistake; see its log",
    });
  }
}

/** No body asks for everything, as an empty message does. */
function parse(bytes: Uint8Array): unknown {
  return bytes.length === 0 ? {} : JSON.parse(Buffer.from(bytes).toString("utf8"));
}
