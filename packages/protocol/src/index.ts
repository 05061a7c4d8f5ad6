export {
  type Dialect,
  type DialectOverrides,
  forKind,
  type PerKind,
  type TtlRule,
  type TtlStream,
} from "./dialect/dialect.ts";
export { dialectFor, type Edition } from "./dialect/presets.ts";
export { judgeTtl, type TtlVerdict, ttlStreamOf } from "./dialect/ttl.ts";
export type { Body, Heartbeat, Segment } from "./message/body.ts";
export {
  type DeltaRequest,
  type DiscoveryRequest,
  type InitialVersions,
  noInitialVersions,
  type SotwRequest,
} from "./message/request.ts";
export { type Status, statusCode } from "./message/status.ts";
export { anonymousNode, type Node } from "./node/node.ts";
export type { Peer, Placement, PlacementRefusal } from "./node/placement.ts";
export type { ApiVersion } from "./resource/api-version.ts";
export type { ErrorDetail, Reference, Resource, ResourceInput } from "./resource/resource.ts";
export { createResourceError, type ResourceErrorInput } from "./resource/resource-error.ts";
export { canonicalName, globOf } from "./resource/resource-name.ts";
export type { TermRules } from "./resource/term-rules.ts";
export { opaqueTraits, sendingRank, type TypeKind, type TypeTraits } from "./resource/type-traits.ts";
export { formatTypeUrl, messageNameOf, parseTypeUrl, type TypeUrl } from "./resource/type-url.ts";
export { addSums, createResource, type Digest, formatVersion, subtractSums } from "./resource/version.ts";
export {
  formatVirtualHostName,
  parseVirtualHostName,
  type VirtualHostName,
  virtualHostTerms,
} from "./resource/virtual-host-name.ts";
export type { Oddity, PlaneEffect, Report, RequestKind } from "./server/effect.ts";
export type { PlaneEvent, StreamId, StreamOpened, Variant } from "./server/event.ts";
export type { DeliveryState, ResourceErrorState, StreamState, TypeState } from "./server/inspect.ts";
export { InvariantError } from "./server/invariant-error.ts";
export { Plane, type PlaneOptions } from "./server/plane.ts";
export type { PollEffect, PollEvent, PollId, PollReceived } from "./server/poll.ts";
export type { Remembered } from "./server/remembered.ts";
export type { Wait } from "./server/wait.ts";
export type { LayerState } from "./state/layer-set.ts";
export type { Deletion, LayerChange, Transaction } from "./state/transaction.ts";
