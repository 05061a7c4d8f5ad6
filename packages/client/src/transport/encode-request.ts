import { encodeDeltaRequest, encodeSotwRequest, type ResourceLocatorMessage } from "@xdskit/envoy-api/internal";
import type { Node, Status } from "@xdskit/protocol";
import { type DeltaRequest, type DiscoveryRequest, parseLocated, type SotwRequest } from "@xdskit/protocol/internal";

/**
 * The limit of the text of a NACK, in characters: names in it may be of any length, and a request that the server finds
 * too large would end the stream, again and again.
 */
const MOST_ERROR_CHARACTERS = 100_000;

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
    errorDetail: request.error && cut(request.error),
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
    errorDetail: request.error && cut(request.error),
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

function cut({ code, message }: Status): Status {
  const isLong = message.length > MOST_ERROR_CHARACTERS;
  return { code, message: isLong ? `${message.slice(0, MOST_ERROR_CHARACTERS)}…` : message };
}
