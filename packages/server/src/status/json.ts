import { setImmediate as turn } from "node:timers/promises";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { type ApiVersion, formatTypeUrl, type Peer, type Status, statusCode } from "@xdskit/protocol";
import type { ClientStatus } from "./client-status.ts";

// The messages of v2 are a part of those of v3, with the same names.
const REQUEST = "envoy.service.status.v3.ClientStatusRequest";
const RESPONSE = formatTypeUrl("envoy.service.status.v3.ClientStatusResponse");

/**
 * The same over REST (`POST /v3/discovery:client_status`): the body as parsed JSON, names in either spelling, to the text of
 * the answer in canonical JSON; or why there is none.
 */
export async function answerClientStatusJson(
  status: ClientStatus,
  api: Pick<EnvoyApi, "readMessage" | "toJson">,
  version: ApiVersion,
  body: unknown,
  peer: Peer,
): Promise<{ readonly text: string } | Status> {
  const { bytes, problems } = api.readMessage(REQUEST, body);
  if (bytes === undefined) {
    const message = problems.map(({ path, message: says }) => `${path.join(".")}: ${says}`).join("; ");
    return { code: statusCode.INVALID_ARGUMENT, message: `the request is malformed: ${message}` };
  }
  const answer = await status.answer(version, bytes, peer);
  if ("code" in answer) return answer;
  const configs: string[] = [];
  for (const piece of answer.pieces) {
    // A piece is an answer of its own, about one client.
    const { config } = Object(api.toJson(RESPONSE, piece)) as { readonly config?: readonly unknown[] };
    configs.push(...(config ?? []).map((one) => JSON.stringify(one)));
    await turn();
  }
  return { text: configs.length === 0 ? "{}\n" : `{"config":[${configs.join(",")}]}\n` };
}
