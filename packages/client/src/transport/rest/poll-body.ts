import type { EnvoyApi } from "@xdskit/envoy-api";
import { type ApiVersion, anonymousNode, formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { SotwRequest } from "@xdskit/protocol/internal";
import { encodeRequest } from "../encode-request.ts";

const REQUEST_TYPE: Readonly<Record<ApiVersion, TypeUrl>> = {
  v2: formatTypeUrl("envoy.api.v2.DiscoveryRequest"),
  v3: formatTypeUrl("envoy.service.discovery.v3.DiscoveryRequest"),
};

/** What a poll is made from. */
export interface PollContent {
  readonly request: SotwRequest;
  /** The encoded `Node`, which every poll carries (C-RST-08). */
  readonly node: Uint8Array;
  readonly apiVersion: ApiVersion;
  /** The type if the request does not name one. */
  readonly type: TypeUrl;
}

/**
 * The body of a poll: a complete `DiscoveryRequest` in canonical JSON (B-RST-01, B-RST-02). Throws a
 * `MalformedMessageError` if the node is malformed.
 */
export function formatPollBody({ request, node, apiVersion, type }: PollContent, api: EnvoyApi): Uint8Array {
  const whole = { ...request, type: request.type ?? type, node: request.node ?? anonymousNode };
  const bytes = encodeRequest(whole, () => node);
  const { "@type": _, ...fields } = api.toJson(REQUEST_TYPE[apiVersion], bytes) as Record<string, unknown>;
  return Buffer.from(JSON.stringify(fields));
}
