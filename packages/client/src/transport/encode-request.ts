import { encodeDeltaRequest, encodeSotwRequest, type ResourceLocatorMessage } from "@xdskit/envoy-api/internal";
import type { Node } from "@xdskit/protocol";
import { type DeltaRequest, type DiscoveryRequest, parseLocated, type SotwRequest } from "@xdskit/protocol/internal";

/** Encodes the node of a request. */
export type NodeEncoder = (node: Node) => Uint8Array;

/** Encodes a request; names with parameters become resource locators (C-LOC-01). */
export function encodeRequest(request: DiscoveryRequest, encodeNode: NodeEncoder): Uint8Array {
  const node = request.node === undefined ? undefined : encodeNode(request.node);
  return request.kind === "sotw" ? encodeSotw(request, node) : encodeDelta(request, node);
}

function encodeSotw(request: SotwRequest, node: Uint8Array | undefined): Uint8Array {
  const { plain, located } = splitTerms(request.names);
  return encodeSotwRequest({
    versionInfo: request.versionInfo,
    node,
    resourceNames: plain,
    typeUrl: request.type,
    responseNonce: request.nonce,
    errorDetail: request.error,
    resourceLocators: located,
  });
}

function encodeDelta(request: DeltaRequest, node: Uint8Array | undefined): Uint8Array {
  const subscribe = splitTerms(request.subscribe);
  const unsubscribe = splitTerms(request.unsubscribe);
  return encodeDeltaRequest({
    node,
    typeUrl: request.type,
    resourceNamesSubscribe: subscribe.plain,
    resourceNamesUnsubscribe: unsubscribe.plain,
    initialResourceVersions: request.initialVersions,
    responseNonce: request.nonce,
    errorDetail: request.error,
    resourceLocatorsSubscribe: subscribe.located,
    resourceLocatorsUnsubscribe: unsubscribe.located,
  });
}

interface SplitTerms {
  readonly plain: readonly string[];
  readonly located: readonly ResourceLocatorMessage[];
}

function splitTerms(terms: readonly string[]): SplitTerms {
  const plain: string[] = [];
  const located: ResourceLocatorMessage[] = [];
  for (const term of terms) {
    const { name, parameters } = parseLocated(term) ?? {};
    if (name === undefined || parameters === undefined) plain.push(term);
    else located.push({ name, dynamicParameters: Object.fromEntries(parameters) });
  }
  return { plain, located };
}
