// The constructors of resources and the types in public signatures: one import for a program that reads.
export type { EnvoyApi } from "@xdskit/envoy-api";
export * from "@xdskit/envoy-api/resources";
export type {
  ApiVersion,
  BackOff,
  ClientDialect,
  Constraints,
  Edition,
  HeldStatus,
  MeshLink,
  Node,
  NodeId,
  OptionProblem,
  Parameters,
  RateLimit,
  Reference,
  SourceId,
  Status,
  TypeUrl,
  Variant,
} from "@xdskit/protocol";
export type { AbsenceReason, ClientReport, DemandOutcome, LoadPlace } from "@xdskit/protocol/internal";
export { bootstrapFromEnvironment } from "./config/bootstrap-environment.ts";
export type {
  AuthoritySource,
  ClientConfig,
  FileFormat,
  FileSource,
  GrpcSource,
  RestSource,
  RootSource,
  RuntimeLayerSource,
  ServerConfig,
  SourceConfig,
  StaticResource,
  TlsConfig,
} from "./config/client-config.ts";
export type { ConfigDefaults, ConfigOptions } from "./config/config-defaults.ts";
export {
  type BootstrapForm,
  type BootstrapInput,
  type LoadedBootstrap,
  loadBootstrap,
} from "./config/load-bootstrap.ts";
export { createXdsClient } from "./create-xds-client.ts";
export { type ConfigProblem, XdsClientError, type XdsClientErrorCode } from "./error.ts";
export { checkTcp } from "./health/check-tcp.ts";
export type { HealthChecker, HealthCheckers, HealthTarget } from "./health/health-check.ts";
export type { HealthChecking, HealthCheckingOptions } from "./health/health-checking.ts";
export type { LoadCall, LoadConnection, LoadReporting, LoadReportingOptions } from "./load/load-reporting.ts";
export type { DemandClusterOptions, DemandOptions, Mesh, MeshOptions } from "./mesh/mesh.ts";
export type { MeshReport } from "./mesh/mesh-report.ts";
export { onlyAds } from "./mesh/mesh-validators.ts";
export type {
  ByName,
  Dangling,
  DanglingReason,
  MeshCluster,
  MeshResource,
  MeshSnapshot,
  MeshState,
} from "./mesh/snapshot.ts";
export { STATIC_SOURCE } from "./mesh/static-source.ts";
export type { ResourceState } from "./observe/dump.ts";
export type { ClientStats, SourceStats, SubscriptionStats } from "./observe/stats.ts";
export type {
  CacheOptions,
  ClientLimits,
  ReadingOptions,
  TransportOptions,
  ValidationOptions,
  XdsClientOptions,
} from "./options/options.ts";
export { type Candidate, type ResourceValidator, type Verdict, validator } from "./reading/validators.ts";
export { type ResourceType, resourceType, type TypeOrUrl } from "./resource/resource-type.ts";
export type { XdsResource } from "./resource/xds-resource.ts";
export { addClientStatusService, type ScopedClients } from "./status/client-status-service.ts";
export type { OwnStatus, OwnStatusOptions } from "./status/own-status.ts";
export type { Change } from "./watch/change.ts";
export type { FetchOptions } from "./watch/fetch.ts";
export type { Watch, WatchOptions } from "./watch/watch.ts";
export type { GetOptions, XdsClient } from "./xds-client.ts";
