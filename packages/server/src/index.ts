export type {
  DeliveriesAnswer,
  DeliveryAnswer,
  DeliveryFate,
  ErrorAnswer,
  ErrorDetailAnswer,
  LayerAnswer,
  LayersAnswer,
  LimitAnswer,
  NodeAnswer,
  NodeAnswerIdentity,
  NodesAnswer,
  Page,
  ReadyAnswer,
  RefusalAnswer,
  ResourceAnswer,
  ResourcesAnswer,
  ResponseAnswer,
  ServerAnswer,
  SourceAnswer,
  StreamAnswer,
  StreamsAnswer,
  TypeAnswer,
} from "./admin/answer.ts";
export { type OptionProblem, XdsError, type XdsErrorCode } from "./error.ts";
export type { ServerEvents } from "./hub/listeners.ts";
export type { NewStream, ServerReport, ShellReport, StreamEnd } from "./hub/port.ts";
export {
  createManagementServer,
  type ManagementServer,
  type SourceReport,
  type StartedServer,
} from "./management-server.ts";
export type { LimitState, Readiness } from "./observe/gauges.ts";
export type { Log } from "./observe/log.ts";
export { type LogEvent, type LogFields, type LogRow, logTable } from "./observe/log-table.ts";
export { type MetricName, type MetricRow, metricTable } from "./observe/metric-table.ts";
export type { SourceProblem, SourceStatus } from "./observe/source-status.ts";
export {
  type AdminAddress,
  defaultLimits,
  type LimitName,
  type Limits,
  type ListenAddress,
  limitNames,
  type ManagementServerOptions,
  type RestOptions,
  type TlsFiles,
} from "./options.ts";
export type { BoundAddress } from "./transport/transport.ts";
