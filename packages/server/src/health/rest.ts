import { formatTypeUrl, type Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { HealthDiscovery } from "../health-discovery.ts";
import { answerJson } from "../transport/rest/json-call.ts";
import type { RestHandler } from "../transport/rest/rest-server.ts";
import { Checks, type HealthApi } from "./checks.ts";

// The v2 messages have the same names and numbers.
const REQUEST = "envoy.service.health.v3.HealthCheckRequestOrEndpointHealthResponse";
const SPECIFIER = formatTypeUrl("envoy.service.health.v3.HealthCheckSpecifier");

/**
 * Health discovery in JSON, in both API versions (requirements 1.2, B-HDS-01); each request counts as a separate
 * client.
 */
export function healthDiscoveryHandlers(discovery: HealthDiscovery, api: HealthApi): ReadonlyMap<string, RestHandler> {
  const handler: RestHandler = (exchange, bytes, hub) =>
    void answerJson(exchange, bytes, { hub, during: "health discovery" }, async (body) => {
      const checks = new Checks(discovery, api, { hub, peer: exchange.peer });
      return answer(body, checks, api);
    });
  return new Map(["v2", "v3"].map((version) => [`/${version}/discovery:health_check`, handler]));
}

function answer(body: unknown, checks: Checks, api: HealthApi): { readonly text: string } | Status {
  const { bytes, problems } = api.readMessage(REQUEST, body);
  if (bytes === undefined) {
    const message = problems.map(({ path, message: says }) => `${path.join(".")}: ${says}`).join("; ");
    return { code: statusCode.INVALID_ARGUMENT, message: `the request is malformed: ${message}` };
  }
  const said = checks.take(bytes) ?? new Uint8Array();
  if ("code" in said) return said;
  const { "@type": _, ...specifier } = Object(api.toJson(SPECIFIER, said)) as Readonly<Record<string, unknown>>;
  return { text: `${JSON.stringify(specifier)}\n` };
}
