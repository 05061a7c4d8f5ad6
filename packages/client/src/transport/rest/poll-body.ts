import { type EnvoyApi, encodeSotwRequest, type ResourceLocatorMessage } from "@xdskit/envoy-api";
import { type ApiVersion, formatTypeUrl, parseLocated, type SotwRequest, type TypeUrl } from "@xdskit/protocol";

const REQUEST_TYPE: Readonly<Record<ApiVersion, TypeUrl>> = {
  v2: formatTypeUrl("envoy.api.v2.DiscoveryRequest"),
  v3: formatTypeUrl("envoy.service.discovery.v3.DiscoveryRequest"),
};

/** What a poll is made from. */
export interface PollContent {
  readonly request: SotwRequest;
  /** The encoded `Node`: a poll always tells it, whatever the request says (C-RST-08). */
  readonly node: Uint8Array;
  readonly apiVersion: ApiVersion;
  /** What is asked for where the request does not say. */
  readonly type: TypeUrl;
}

/**
 * The body of a poll: a whole `DiscoveryRequest` in canonical JSON (B-RST-01, B-RST-02). Throws a `MalformedMessageError` if the
 * node is none.
 */
export function formatPollBody({ request, node, apiVersion, type }: PollContent, api: EnvoyApi): Uint8Array {
  const { resourceNames, resourceLocators } = splitNames(request.names);
  const bytes = encodeSotwRequest({
    versionInfo: request.versionInfo,
    node,
    resourceNames,
    typeUrl: request.type ?? type,
    responseNonce: request.nonce,
    errorDetail: request.error,
    resourceLocators,
  });
  const { "@type": _, ...fields } = api.toJson(REQUEST_TYPE[apiVersion], bytes) as Record<string, unknown>;
  return Buffer.from(JSON.stringify(fields));
}

interface SplitNames {
  readonly resourceNames: readonly string[];
  readonly resourceLocators: readonly ResourceLocatorMessage[];
}

/** Names with parameters have a field of their own. */
function splitNames(names: readonly string[]): SplitNames {
  const resourceNames: string[] = [];
  const resourceLocators: ResourceLocatorMessage[] = [];
  for (const term of names) {
    const located = parseLocated(term);
    if (located === undefined) resourceNames.push(term);
    else resourceLocators.push({ name: located.name, dynamicParameters: Object.fromEntries(located.parameters) });
  }
  return { resourceNames, resourceLocators };
}
