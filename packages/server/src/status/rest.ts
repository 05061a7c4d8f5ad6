import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { answerJson } from "../transport/rest/json-call.ts";
import type { RestHandler } from "../transport/rest/rest-server.ts";
import type { ClientStatus } from "./client-status.ts";
import { answerClientStatusJson } from "./json.ts";

const versions: readonly ApiVersion[] = ["v2", "v3"];

/**
 * Client status in JSON, in both API versions (requirements 1.2, S-CSD-01). Without a body it returns every client, as
 * for an empty message.
 */
export function clientStatusHandlers(
  status: ClientStatus,
  api: Pick<EnvoyApi, "readMessage" | "toJson">,
): ReadonlyMap<string, RestHandler> {
  const handlerOf =
    (version: ApiVersion): RestHandler =>
    (exchange, bytes, hub) =>
      void answerJson(exchange, bytes, { hub, during: "client status" }, async (body) => {
        const said = await answerClientStatusJson(status, api, version, body, exchange.peer);
        if ("code" in said && said.code === statusCode.RESOURCE_EXHAUSTED)
          hub.reportLimit("maxStatusBytes", exchange.peer.address, said.message);
        return said;
      });
  return new Map(versions.map((version) => [`/${version}/discovery:client_status`, handlerOf(version)]));
}
