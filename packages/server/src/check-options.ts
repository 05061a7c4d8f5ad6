import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import type { ClientChoice, DialectOverrides, NodeMapping } from "@xdskit/protocol";
import { createClientChoice } from "@xdskit/protocol/internal";
import type { ValidationLevel } from "@xdskit/source/checks";
import { optionsError } from "./error.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { serverOptions } from "./option-rules.ts";
import type {
  AdminAddress,
  ClientStatusAccess,
  ListenAddress,
  ListenOptions,
  LoadReportOptions,
  ManagementServerOptions,
  RestOptions,
  V2Mode,
} from "./options.ts";
import { withDefaults } from "./with-defaults.ts";

/** Options with every default filled in. */
export interface CheckedOptions
  extends Omit<ManagementServerOptions, "api" | "clients" | "dialect" | "listen" | "requireNode"> {
  readonly api: EnvoyApi;
  readonly listen: readonly (ListenOptions & Required<ListenAddress>)[];
  readonly admin: CheckedAdmin | false;
  readonly rest: Required<RestOptions> | false;
  readonly nodeMapping: NodeMapping;
  /** With `requireNode` among the switches. */
  readonly dialect: DialectOverrides;
  readonly clients: ClientChoice | undefined;
  readonly insecure: boolean;
  readonly serveEmpty: boolean;
  readonly v2: V2Mode;
  readonly validation: ValidationLevel;
  readonly controlPlane: string;
  readonly clientStatus: ClientStatusAccess;
  readonly loadReports: Required<LoadReportOptions> | false;
  readonly limits: Limits;
}

/** Everything but the TLS files has a default. */
export type CheckedAdmin = Required<Omit<AdminAddress, "tls">> & Pick<AdminAddress, "tls">;

const defaultLoadReports: Required<LoadReportOptions> = { intervalMs: 10_000, clusters: "all", endpoints: false };

export const everyNodeSeesBase: NodeMapping = () => ["base"];

/** Fills in the defaults. Throws an `XdsError` (OPTIONS_INVALID) that names every mistake at once. */
export function checkOptions(options: ManagementServerOptions): CheckedOptions {
  const problems = serverOptions(options);
  if (problems.length > 0) throw optionsError(problems);
  return {
    ...options,
    api: options.api ?? createEnvoyApi(),
    listen: listenersOf(options).map((listener) => withDefaults({ host: "127.0.0.1", port: 0 }, listener)),
    admin:
      options.admin === undefined || options.admin === false
        ? false
        : withDefaults({ host: "127.0.0.1", port: 0, names: [], viewers: [], operators: [] }, options.admin),
    rest: options.rest === false ? false : withDefaults({ holdMs: 800, maxHoldMs: 30_000, names: [] }, options.rest),
    nodeMapping: options.nodeMapping ?? everyNodeSeesBase,
    dialect: { ...options.dialect, ...requireNodeOf(options) },
    clients: choiceOf(options.clientOverrides),
    insecure: options.insecure ?? false,
    serveEmpty: options.serveEmpty ?? false,
    v2: options.v2 ?? "convert",
    validation: options.validation ?? "warn",
    controlPlane: options.controlPlane ?? "xdskit",
    clientStatus: options.clientStatus ?? "loopback",
    loadReports: options.loadReports === false ? false : withDefaults(defaultLoadReports, options.loadReports),
    limits: withDefaults(defaultLimits, options.limits),
  };
}

/** Undefined: overrides for nobody. */
export function choiceOf(clients: ManagementServerOptions["clientOverrides"]): ClientChoice | undefined {
  if (clients === undefined || typeof clients === "function") return clients;
  return clients.length === 0 ? undefined : createClientChoice(clients);
}

/** Leaves the switch unset where it is off by default, so that others may set it. */
function requireNodeOf({ requireNode, nodeMapping }: ManagementServerOptions): DialectOverrides {
  if (requireNode !== undefined) return { requireNode };
  return nodeMapping === undefined ? {} : { requireNode: true };
}

function listenersOf({ listen = {} }: ManagementServerOptions): readonly ListenOptions[] {
  return "length" in listen ? listen : [listen];
}
