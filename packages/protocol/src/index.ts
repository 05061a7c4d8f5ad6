export type {
  AccessedResource,
  AccessFunction,
  AccessQuestion,
  AccessRule,
  AccessRules,
  EntryPoint,
} from "./access/access-rules.ts";
export type { HeldStatus } from "./client/held.ts";
export type { BackOff, RateLimit, SourceId } from "./client/source.ts";
export type { Choice, ClientChoice } from "./dialect/choice.ts";
export type { ClientDialect } from "./dialect/client-dialect.ts";
export type { ClientRule } from "./dialect/client-rules.ts";
export type { DialectOverrides } from "./dialect/dialect.ts";
export { type Edition, editions } from "./dialect/switches.ts";
export type { EndpointLoad, LoadReport, Locality } from "./load/load-report.ts";
export type { MeshLink, NodeId } from "./mesh/mesh-node.ts";
export type { Status } from "./message/status.ts";
export type { Variant } from "./message/variant.ts";
export { anonymousNode, type Node } from "./node/node.ts";
export type {
  GroupRule,
  GroupRules,
  NodeMapping,
  NodeMappingFunction,
  NodeMappingRejection,
  Peer,
  PeerCertificate,
} from "./node/node-mapping.ts";
export type { NodeMatch } from "./node/node-match.ts";
export type { BaseProblem, OptionProblem, ValuePath } from "./problem/problem.ts";
export type { ApiVersion } from "./resource/api-version.ts";
export type { Constraints, Parameters } from "./resource/constraints.ts";
export type { ErrorDetail, Reference, Resource, ResourceInput } from "./resource/resource.ts";
export { createResourceError, type ResourceErrorInput } from "./resource/resource-error.ts";
export { formatResourceName, parseResourceName } from "./resource/resource-name.ts";
export { formatTypeUrl, messageNameOf, parseTypeUrl, type TypeUrl } from "./resource/type-url.ts";
export { createResource } from "./resource/version.ts";
export type { StructConverter } from "./server/contract/conversion.ts";
export type { Commit, Deletion, LayerChange, Transaction } from "./state/transaction.ts";
