import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { HubPort } from "../../hub/port.ts";
import type { RestExchange } from "./exchange.ts";
import { httpStatusOf, JSON_HEADERS, respondWithError } from "./rest-error.ts";

/** Answers a JSON request with JSON text, or with the status that rejects it. */
export async function answerJson(
  exchange: RestExchange,
  bytes: Uint8Array,
  { hub, during }: { readonly hub: HubPort; readonly during: string },
  answer: (body: unknown) => Promise<{ readonly text: string } | Status>,
): Promise<void> {
  try {
    const said = await answer(parse(bytes));
    if ("text" in said) exchange.respond(200, JSON_HEADERS, Buffer.from(said.text));
    else respondWithError(exchange, httpStatusOf(said), said);
  } catch (error) {
    if (error instanceof SyntaxError) {
      const message = `not JSON: ${error.message}`;
      respondWithError(exchange, 400, { code: statusCode.INVALID_ARGUMENT, message });
      return;
    }
    hub.report({ kind: "invariant-broken", stream: undefined, during, error });
    respondWithError(exchange, 500, {
      code: statusCode.INTERNAL,
      message: "internal server error; see the log",
    });
  }
}

/** An absent body is an empty message. */
function parse(bytes: Uint8Array): unknown {
  return bytes.length === 0 ? {} : JSON.parse(Buffer.from(bytes).toString("utf8"));
}
