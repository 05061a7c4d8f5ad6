export { type OptionProblem, XdsError, type XdsErrorCode } from "./error.ts";
export type { ServerEvents } from "./hub/listeners.ts";
export type { ServerReport, ShellReport, StreamEnd } from "./hub/port.ts";
export {
  createManagementServer,
  type ManagementServer,
  type SourceReport,
  type StartedServer,
} from "./management-server.ts";
export type { SourceProblem, SourceStatus } from "./observe/source-status.ts";
export {
  defaultLimits,
  type LimitName,
  type Limits,
  type ListenAddress,
  type ManagementServerOptions,
  type TlsFiles,
} from "./options.ts";
export type { BoundAddress } from "./transport/transport.ts";
