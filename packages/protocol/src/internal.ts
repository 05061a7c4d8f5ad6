/** What the other packages of this project share. Not covered by semantic versioning: it may change in any release. */

export {
  type AccessClaim,
  type AccessGrant,
  type AccessPolicy,
  type AccessRefusal,
  type AccessVerdict,
  type AskedResource,
  isVisible,
  openAccess,
  type RuleMiss,
  wholeGrant,
} from "./access/access-policy.ts";
export { entryPoints } from "./access/access-rules.ts";
export { compileAccess } from "./access/compile-access.ts";
export type { AccessProblem } from "./access/compile-rule.ts";
export { createAccess } from "./access/create-access.ts";
export { defaultAccess } from "./access/default-access.ts";
export { findIdleRules } from "./access/find-idle-rules.ts";
export { type ClaimTexts, readClaim } from "./access/read-claim.ts";
export type { StatusReaders } from "./access/usual-access.ts";
export { pauseMs } from "./client/back-off.ts";
export { ClientMachine, type ClientMachineOptions, type SourcedState } from "./client/client.ts";
export type { ClientEffect, ClientReport } from "./client/effect.ts";
export type { ClientEvent, ClientStreamId, Moment, WatchId, WatchStarted } from "./client/event.ts";
export type { HeldFailure, HeldResource, HeldState, KeptResource } from "./client/held.ts";
export type { SourceSpec } from "./client/source.ts";
export type { AbsenceReason, FailureReason, WatchEvent } from "./client/watch-event.ts";
export {
  changesBetween,
  type KindOf,
  type Reversal,
  type ReversalResult,
  reverseTo,
  type SplitChange,
  splitLive,
} from "./control/changes.ts";
export { type EmptiedEntry, type SplitEmptied, splitEmptied } from "./control/emptied-endpoints.ts";
export type { FuseContext, JudgedNode } from "./control/fuse-context.ts";
export { defaultFuses, type FuseSettings } from "./control/fuse-settings.ts";
export { tripFuses } from "./control/fuses.ts";
export { type Applied, type LedgerEffect, type LedgerSnapshot, LedgerState } from "./control/ledger-state.ts";
export { formatPastLine, NodePast, type NodePastLine, type NodeRejection, parsePastLine } from "./control/node-past.ts";
export type { Amount } from "./control/peaks.ts";
export { type PlacedEntry, placeKey } from "./control/place.ts";
export type {
  ApprovedRecord,
  BodyId,
  EmptiedRecord,
  Entry,
  EntryChange,
  EntryPlace,
  FuseTrip,
  GroupMembers,
  HeldRecord,
  LedgerRecord,
  LiveRecord,
  Pin,
  Placement,
  PublishOrigin,
  RejectedRecord,
  RevisionRecord,
  RolledBackRecord,
  UnpinnedRecord,
} from "./control/record.ts";
export type { Choices, NamedChoice } from "./dialect/choice.ts";
export { type ClientSwitchTable, clientDialect, clientSwitchTable } from "./dialect/client-dialect.ts";
export { createClientChoice } from "./dialect/client-rules.ts";
export {
  type Dialect,
  forKind,
  isWildcardType,
  type MethodSwitch,
  type Override,
  type PerKind,
  type TtlRule,
  type TtlStream,
} from "./dialect/dialect.ts";
export { type ChosenBy, type DialectState, explainDialect, formatSwitch, type SwitchState } from "./dialect/explain.ts";
export { type KnownClient, knownClients } from "./dialect/known-clients.ts";
export { dialectFor } from "./dialect/presets.ts";
export {
  inEdition,
  isPerKind,
  type Switch,
  type SwitchField,
  type SwitchForm,
  type SwitchTable,
  switchFields,
  switchNameOf,
  switchTable,
} from "./dialect/switches.ts";
export { judgeTtl, type TtlVerdict, ttlStreamOf } from "./dialect/ttl.ts";
export type { ClusterLoad, LoadCounts, LoadMetric, LoadRequest, LocalityLoad } from "./load/load-report.ts";
export {
  LoadReporter,
  type LoadReporterEffect,
  type LoadReporterEvent,
  type LoadReporterOptions,
  type LoadReporterReport,
} from "./load/load-reporter.ts";
export {
  type LoadEffect,
  type LoadEvent,
  type LoadReportSettings,
  LoadReports,
  type LoadReportsOptions,
  type ReporterState,
} from "./load/load-reports.ts";
export type { ClusterSums, EndpointSums, LoadLimits, LocalitySums, ReporterId } from "./load/load-sums.ts";
export type { LoadPlace, LoadTaking, LoadTally, LoadTallyOptions, StartedLoad } from "./load/load-tally.ts";
export type { LoadOutcome } from "./load/locality-tally.ts";
export type { Dependency, DependencySource, ExtensionTerms, HandedDown } from "./mesh/dependency.ts";
export type { DemandOutcome, MeshChanges, MeshEffect, MeshReport } from "./mesh/mesh-effect.ts";
export type { Demanded, DemandId, MeshEvent, MeshRoot, RootId } from "./mesh/mesh-event.ts";
export { MeshMachine } from "./mesh/mesh-machine.ts";
export type { MeshFailure, MeshLinkState, MeshNode, MeshNodeState, MeshWatchId } from "./mesh/mesh-node.ts";
export type { MeshOptions } from "./mesh/mesh-options.ts";
export { sourceProblems } from "./mesh/source-problems.ts";
export type { Body, Heartbeat, Segment } from "./message/body.ts";
export type { ClientState } from "./message/client-state.ts";
export {
  type DeltaRequest,
  type DiscoveryRequest,
  type InitialVersions,
  type ListedVersion,
  type NumberedVersions,
  noInitialVersions,
  type SotwRequest,
  type VersionCursor,
} from "./message/request.ts";
export type {
  DeltaResponse,
  DiscoveryResponse,
  ReceivedError,
  ReceivedResource,
  SotwResponse,
} from "./message/response.ts";
export { statusCode } from "./message/status.ts";
export { hostOf } from "./node/host.ts";
export { layersFor } from "./node/node-mapping.ts";
export { globMatches, type MetadataMatch, nodeMatches, type Patterns } from "./node/node-match.ts";
export { isObserver, OBSERVER_USER_AGENT } from "./node/observer.ts";
export { describeKind, isObject, kindOf } from "./problem/describe-kind.ts";
export { describeProblem, describeProblems } from "./problem/describe-problem.ts";
export { formatPath } from "./problem/format-path.ts";
export { nearestName } from "./problem/nearest-name.ts";
export type { BaseProblem, OptionProblem, ValuePath } from "./problem/problem.ts";
export { escapeInvisible, quote } from "./problem/quote.ts";
export {
  aFlag,
  aFunction,
  aList,
  aListOfTexts,
  aName,
  anObject,
  aText,
  at,
  every,
  type FieldsOptions,
  fields,
  isTexts,
  listOf,
  listOr,
  mistake,
  objectOr,
  oneOf,
  oneOrMore,
  optional,
  problemsIn,
  type Rule,
  type RulesOf,
  rule,
  unchecked,
  wholeNumber,
} from "./problem/rule.ts";
export { constraintsOf, describeConstraints, matches } from "./resource/constraints.ts";
export { type Overlap, overlapOf } from "./resource/disjointness.ts";
export type { ResourceVariant } from "./resource/resource.ts";
export {
  canonicalName,
  globOf,
  isGlobName,
  isListName,
  type ResourceName,
  typeInName,
  WILDCARD,
} from "./resource/resource-name.ts";
export { areSameBytes } from "./resource/same-bytes.ts";
export type { TermRules } from "./resource/term-rules.ts";
export { sendingRank, type TypeKind, type TypeKindRow, typeKinds, typeKindTable } from "./resource/type-kinds.ts";
export { opaqueTraits, type TypeTraits } from "./resource/type-traits.ts";
export { isOfV2 } from "./resource/type-url.ts";
export {
  constrainedName,
  type Located,
  locatedTerm,
  parseLocated,
  parseVariantKey,
  plainName,
  shownName,
  type VariantName,
  variantKey,
} from "./resource/variant-name.ts";
export { addSums, type Digest, formatVersion, subtractSums, TTL_LIMIT_MS } from "./resource/version.ts";
export {
  formatVirtualHostName,
  parseVirtualHostName,
  type VirtualHostName,
  virtualHostTerms,
} from "./resource/virtual-host-name.ts";
export { deniedCode, entryPointOf, nodeDenied } from "./server/admission.ts";
export type { Anomaly, Report, RequestKind, ServerEffect } from "./server/contract/effect.ts";
export type { ServerEvent, StreamId, StreamOpened, TransactionCommitted } from "./server/contract/event.ts";
export type {
  DeliveryState,
  PlacedStream,
  ResourceErrorState,
  ResourceState,
  ResourceStatus,
  StreamState,
  TypeState,
} from "./server/contract/inspect.ts";
export { InvariantError } from "./server/contract/invariant-error.ts";
export type { PollEffect, PollEvent, PollId, PollReceived } from "./server/contract/poll.ts";
export type { PreparedCommit } from "./server/contract/prepared-commit.ts";
export type {
  LostNode,
  NodeStates,
  RevisionProgress,
  Standing,
  Straggler,
  StragglerType,
} from "./server/contract/progress.ts";
export type { Remembered } from "./server/contract/remembered.ts";
export type { ServerMachineOptions } from "./server/contract/server-machine-options.ts";
export type { Account } from "./server/contract/stream-limits.ts";
export type { Wait } from "./server/contract/wait.ts";
export { AccountUsage, clientBytes } from "./server/memory/account-usage.ts";
export { bytesOfNode, createEncodedNode } from "./server/memory/node-cost.ts";
export { bytesOfRequest } from "./server/memory/request-cost.ts";
export { bytesOfValue } from "./server/memory/value-cost.ts";
export type { RevisionFollower } from "./server/progress/follower.ts";
export type { Progress } from "./server/progress/progress.ts";
export { ServerMachine } from "./server/server-machine.ts";
export { type Ambiguity, findAmbiguity } from "./state/ambiguity.ts";
export { deletedKey } from "./state/layer.ts";
export type { LayerState } from "./state/layer-set.ts";
export { finish, ITEMS_A_STEP, type Steps } from "./state/steps.ts";
