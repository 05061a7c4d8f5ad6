// The constructors of resources and the types in public signatures: one import for a program that serves.
export type { EnvoyApi } from "@xdskit/envoy-api";
export * from "@xdskit/envoy-api/resources";
export type {
  AccessedResource,
  AccessFunction,
  AccessQuestion,
  AccessRule,
  AccessRules,
  ApiVersion,
  Choice,
  ClientChoice,
  ClientRule,
  Commit,
  Deletion,
  DialectOverrides,
  Edition,
  EntryPoint,
  GroupRule,
  GroupRules,
  LayerChange,
  LoadReport,
  Node,
  NodeMapping,
  NodeMappingFunction,
  NodeMappingRejection,
  NodeMatch,
  OptionProblem,
  Peer,
  PeerCertificate,
  Resource,
  Status,
  StructConverter,
  Transaction,
  TypeUrl,
  Variant,
} from "@xdskit/protocol";
export type { FuseSettings, PublishOrigin } from "@xdskit/protocol/internal";
export type { ValidationLevel } from "@xdskit/source/checks";
export { type AdminEntry, type AdminRole, type AdminRules, roleOfIdentities } from "./admin/access.ts";
export type { AccessAnswer, AccessClientAnswer, AccessRulesAnswer } from "./admin/answers/access.ts";
export type { CallerAnswer } from "./admin/answers/caller.ts";
export type {
  DeliveriesAnswer,
  DeliveryAnswer,
  DeliveryFate,
  NackAnswer,
  ResponseAnswer,
  TypeAnswer,
  WaitAnswer,
} from "./admin/answers/deliveries.ts";
export type {
  LiveEvents,
  NodeCountsAnswer,
  NodeGroupAnswer,
  RevisionTimeAnswer,
  SampleAnswer,
  SamplesAnswer,
} from "./admin/answers/live.ts";
export type {
  LoadAnswer,
  LoadReporterAnswer,
  LoadReportersAnswer,
  LoadsAnswer,
  LocalityLoadAnswer,
} from "./admin/answers/loads.ts";
export type {
  DialectAnswer,
  NodeAnswer,
  NodeAnswerIdentity,
  NodesAnswer,
  StreamAnswer,
  StreamsAnswer,
} from "./admin/answers/nodes.ts";
export type { ErrorAnswer, ErrorDetailAnswer, Page } from "./admin/answers/page.ts";
export type {
  LostNodeAnswer,
  NamedPlaceAnswer,
  ProgressAnswer,
  StragglerAnswer,
  StragglersAnswer,
} from "./admin/answers/progress.ts";
export type {
  ConversionAnswer,
  ConversionsAnswer,
  GraphAnswer,
  GraphNodeAnswer,
  HolderAnswer,
  HoldersAnswer,
  NodeResourceAnswer,
  NodeResourcesAnswer,
  ResourceAnswer,
  ResourcesAnswer,
} from "./admin/answers/resources.ts";
export type {
  ChangeAnswer,
  ContentAnswer,
  DecisionAnswer,
  DifferenceAnswer,
  FuseAnswer,
  NodeHistoryAnswer,
  NodePastAnswer,
  NodeRejectionAnswer,
  PlanAnswer,
  PlanCountAnswer,
  PlanNodeAnswer,
  PlanNodesAnswer,
  RevisionAnswer,
  RevisionDetailAnswer,
  RevisionsAnswer,
} from "./admin/answers/revisions.ts";
export type {
  EmptiedAnswer,
  ExpiringAnswer,
  HeldTrustAnswer,
  LayerAnswer,
  LayersAnswer,
  LimitAnswer,
  LostReplicaAnswer,
  MissingAnswer,
  ReadyAnswer,
  ReplicaAnswer,
  ReplicasAnswer,
  ServerAnswer,
  SourceAnswer,
  StoreAnswer,
  StoreCopyAnswer,
} from "./admin/answers/server.ts";
export { replicasOf } from "./admin/describe-replicas.ts";
export { certificateFault } from "./certificate-fault.ts";
export { certificateNames } from "./certificate-names.ts";
export { createServer } from "./create-server.ts";
export { type ResourceProblem, XdsError, type XdsErrorCode } from "./error.ts";
export { createFileExport, type FileExport, type FileExportOptions } from "./file-export.ts";
export type { FileOutput } from "./file-output.ts";
export type { HealthChecker, HealthDiscovery } from "./health-discovery.ts";
export type { ServerEvents } from "./hub/listeners.ts";
export type {
  ConversionFindings,
  ConversionReport,
  NewStream,
  ServerReport,
  ShellReport,
  StreamEnd,
} from "./hub/port.ts";
export { type CopiedStoreOptions, openCopiedStore } from "./ledger/copied-store.ts";
export { type DirectoryLedgerOptions, openDirectoryLedger } from "./ledger/directory-store.ts";
export type { LedgerExport, LedgerProgress } from "./ledger/export-file.ts";
export type { HeldLease, LedgerLease } from "./ledger/lease.ts";
export type { ReaderStop } from "./ledger/ledger-reader.ts";
export { planLines } from "./ledger/plan-lines.ts";
export type {
  Authorship,
  Publication,
  PublishedChange,
  PublishResult,
  RollbackOptions,
  SourceReading,
  WaitingDeletion,
} from "./ledger/publication.ts";
export type { LedgerRole } from "./ledger/source-role.ts";
export type {
  Appended,
  AppendResult,
  Kept,
  LedgerHead,
  LedgerStore,
  StoreCopyState,
  StoredRecord,
  StoredSnapshot,
  StoreMembers,
  StoreOutage,
  WholeLedger,
} from "./ledger/store.ts";
export type { StoreState } from "./ledger/store-state.ts";
export {
  type ExportedLedger,
  exportLedger,
  type ImportOptions,
  type ImportResult,
  importLedger,
} from "./ledger/transfer.ts";
export { defaultLimits, type LimitName, type Limits, limitNames } from "./limits.ts";
export type { LedgerStatus, ManagementServer, SourceReport, StartedServer } from "./management-server.ts";
export { type ConsoleLogOptions, consoleLog } from "./observe/console-log.ts";
export type { LimitState, Readiness } from "./observe/gauges.ts";
export type { Log } from "./observe/log.ts";
export { formatLogLine, type LogColors, type LogLine } from "./observe/log-line.ts";
export { type LogEvent, type LogFields, type LogRow, logTable } from "./observe/log-table.ts";
export { type MetricMerge, type MetricName, type MetricRow, metricTable } from "./observe/metric-table.ts";
export type { SourceProblem, SourceStatus } from "./observe/source-status.ts";
export type {
  AdminAddress,
  ClientStatusAccess,
  DeploymentOptions,
  Http2Engine,
  ListenAddress,
  ListenOptions,
  LoadReportOptions,
  ManagementServerOptions,
  RestOptions,
  TlsFiles,
  V2Mode,
} from "./options.ts";
export type { AskedResource, PlacesOf, ResourcePlace } from "./source-places.ts";
export type {
  ChangeResult,
  LayerUpdate,
  ResourceChange,
  ResourceList,
  TypeReference,
  Update,
} from "./state/resource-layers.ts";
export type { BoundAddress } from "./transport/transport.ts";
