/** What the other packages of this project share. Not covered by semantic versioning: it may change in any release. */

export { type DiscoveryMethod, discoveryMethods, findDiscoveryMethod } from "./catalog/discovery-methods.ts";
export type { DiscoveryCall } from "./catalog/discovery-service.ts";
export { spellText, usesJsonSpelling } from "./catalog/json-path.ts";
export { pathsWithoutRest, type RestPath, restPaths } from "./catalog/rest-paths.ts";
export { withoutFlags } from "./format/descriptor-hints.ts";
export { maxNesting, nestedTooDeep, yamlLimits } from "./format/text-limits.ts";
export { parseYamlTokens, type YamlTokens, yamlTokensIn } from "./format/yaml-tokens.ts";
export type { AnyMessage } from "./wire/any.ts";
export { type BodyEncoder, createBodyEncoder, type EncodedBody } from "./wire/body-encoder.ts";
export {
  type ClientConfigWriter,
  type ClientIdentity,
  type ClientResource,
  createClientConfigWriter,
} from "./wire/client-config.ts";
export {
  type ClientStatusRequest,
  decodeClientStatusRequest,
  type NodeMatcher,
  type StringMatcher,
  type StructMatcher,
  type ValueMatcher,
} from "./wire/client-status-request.ts";
export { decodeConstraints, encodeConstraints } from "./wire/constraints.ts";
export { decodeLoadRequest, encodeLoadReport, type LoadReportMessage } from "./wire/encode-load-report.ts";
export {
  type DeltaRequestMessage,
  encodeDeltaRequest,
  encodeSotwRequest,
  type SotwRequestMessage,
} from "./wire/encode-request.ts";
export { hasEndpoints } from "./wire/endpoints.ts";
export {
  decodeHealthMessage,
  encodeHealthFindings,
  encodeHealthOffer,
  type HealthMessage,
} from "./wire/health-check-request.ts";
export { createJsonBodyEncoder, type JsonBodyEncoder, type JsonBodyEncoderOptions } from "./wire/json-body-encoder.ts";
export { decodeJsonRequest } from "./wire/json-request.ts";
export { createLoadReportReader, encodeLoadRequest, type LoadReportReader } from "./wire/load-stats.ts";
export { decodeNode, encodeNode } from "./wire/node.ts";
export {
  createOwnConfigWriter,
  type OwnConfigWriter,
  type OwnContent,
  type OwnResource,
} from "./wire/own-client-config.ts";
export { createRequestReader, type RequestReader } from "./wire/request-reader.ts";
export {
  decodeResource,
  encodeResource,
  type ResourceErrorMessage,
  type ResourceMessage,
} from "./wire/resource-message.ts";
export type { ResourceLocatorMessage, ResourceNameMessage } from "./wire/resource-name.ts";
export {
  type DeltaDiscoveryResponseInput,
  type DeltaDiscoveryResponseMessage,
  type DiscoveryResponseMessage,
  decodeDeltaResponse,
  decodeSotwResponse,
  encodeDeltaResponse,
  encodeSotwResponse,
} from "./wire/response.ts";
export type { EncodingCounters } from "./wire/segment-encoder.ts";
export type { StatusMessage } from "./wire/status.ts";
export { NodeSizeError, WireError } from "./wire/wire-error.ts";
