import { LONGEST_TIMER_MS as LONGEST_MS } from "@xdskit/disk";
import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import { nearestName } from "@xdskit/envoy-api/internal";
import { type Choice, type ClientChoice, type DialectOverrides, editions, type NodeMapping } from "@xdskit/protocol";
import { createClientChoice, isSwitchField, switchFields } from "@xdskit/protocol/internal";
import { hasNameKind } from "./certificate-name.ts";
import { type OptionProblem, optionsError } from "./error.ts";
import { findFileOutputProblems } from "./file-output.ts";
import { findMappingProblems, findMatchProblems } from "./node-match-check.ts";
import { describeKind } from "./option-kinds.ts";
import { readOptions } from "./option-names.ts";
import {
  type AdminAddress,
  type ClientStatusAccess,
  defaultLimits,
  isLimitName,
  type LimitName,
  type Limits,
  type ListenAddress,
  type ListenOptions,
  type LoadReportOptions,
  type ManagementServerOptions,
  type RestOptions,
  type TlsFiles,
  type V2Mode,
} from "./options.ts";

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
export function checkOptions(given: ManagementServerOptions): CheckedOptions {
  const { options, problems: wrongKinds } = readOptions(given);
  const problems = [...wrongKinds, ...findOptionProblems(options)];
  if (problems.length > 0) throw optionsError(problems);
  return {
    ...options,
    api: options.api ?? createEnvoyApi(),
    listen: listenersOf(options).map((listener) => ({ host: "127.0.0.1", port: 0, ...listener })),
    admin:
      options.admin === undefined || options.admin === false
        ? false
        : { host: "127.0.0.1", port: 0, names: [], viewers: [], operators: [], ...options.admin },
    rest: options.rest === false ? false : { holdMs: 800, maxHoldMs: 30_000, names: [], ...options.rest },
    nodeMapping: options.nodeMapping ?? everyNodeSeesBase,
    dialect: { ...options.dialect, ...requireNodeOf(options) },
    clients: choiceOf(options.clientOverrides),
    insecure: options.insecure ?? false,
    serveEmpty: options.serveEmpty ?? false,
    v2: options.v2 ?? "convert",
    controlPlane: options.controlPlane ?? "xdskit",
    clientStatus: options.clientStatus ?? "loopback",
    loadReports: options.loadReports === false ? false : { ...defaultLoadReports, ...options.loadReports },
    limits: { ...defaultLimits, ...options.limits },
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

/** Finds every mistake in options of the right kinds. */
function findOptionProblems(options: ManagementServerOptions): readonly OptionProblem[] {
  return [
    ...findListenerProblems(options),
    ...findChoiceProblems("", options),
    ...(options.nodeMapping === undefined ? [] : findMappingProblems(options.nodeMapping)),
    ...findClientProblems(options.clientOverrides),
    ...(options.admin === false ? [] : findAdminProblems(options.admin)),
    ...findTlsProblems(options.tls),
    ...findRestProblems(options.rest),
    ...findLimitProblems(options.limits ?? {}),
    ...findRetentionProblems(options.ledger?.retention),
    ...findPublishesProblems(options.ledger?.publishes),
    ...findFileOutputProblems(options.files ?? []),
    ...findLoadReportProblems(options.loadReports),
  ];
}

function findAddressProblems(path: string, address: ListenAddress | undefined): readonly OptionProblem[] {
  const problems: OptionProblem[] = [];
  const { host, port } = address ?? {};
  if (host === "") problems.push({ path: `${path}.host`, message: 'expected a host, got ""' });
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    problems.push({ path: `${path}.port`, message: `expected a port from 0 to 65535, got ${port}` });
  }
  return problems;
}

function findAdminProblems(admin: AdminAddress = {}): readonly OptionProblem[] {
  const { tls, viewers = [], operators = [] } = admin;
  const problems = [...findAddressProblems("admin", admin), ...findTlsProblems(tls, "admin.")];
  if (tls !== undefined && tls.ca === undefined) {
    const message = "expected a file to check client certificates against, got nothing: nobody could read";
    problems.push({ path: "admin.tls.ca", message });
  }
  for (const [path, names] of [["admin.viewers", viewers] as const, ["admin.operators", operators] as const]) {
    if (names.length > 0 && tls === undefined)
      problems.push({ path, message: "expected TLS (admin.tls) for names of certificates" });
    for (const name of names.filter((one) => !hasNameKind(one))) {
      problems.push({ path, message: `expected dns:, uri:, ip:, email: or cn: and a name, got "${name}"` });
    }
  }
  return problems;
}

function findListenerProblems(options: ManagementServerOptions): readonly OptionProblem[] {
  const listeners = listenersOf(options);
  if (listeners.length === 0) return [{ path: "listen", message: "expected at least one address, got none" }];
  const isOne = options.listen === undefined || !("length" in options.listen);
  return listeners.flatMap((listener, index) => {
    const path = isOne ? "listen" : `listen[${index}]`;
    return [
      ...findAddressProblems(path, listener),
      ...findTlsProblems(listener.tls === false ? undefined : listener.tls, `${path}.`),
      ...findChoiceProblems(`${path}.`, listener),
    ];
  });
}

/** Finds every mistake in client overrides of the right kind. */
export function findClientProblems(clients: ManagementServerOptions["clientOverrides"] = []): readonly OptionProblem[] {
  if (typeof clients === "function") return [];
  return clients.flatMap((rule, index) => {
    const path = `clientOverrides[${index}].`;
    return [...findMatchProblems(`${path}match`, rule.match), ...findChoiceProblems(path, rule)];
  });
}

function findChoiceProblems(prefix: string, { edition, dialect = {} }: Choice): readonly OptionProblem[] {
  const unknown = Object.keys(dialect).filter((field) => !isSwitchField(field));
  const problems = unknown.map((field) => {
    const nearest = nearestName(field, switchFields);
    const hint = nearest === undefined ? {} : { hint: `did you mean "${nearest}"?` };
    return { path: `${prefix}dialect.${field}`, message: "unknown switch", ...hint };
  });
  if (edition === undefined || editions.includes(edition)) return problems;
  return [
    { path: `${prefix}edition`, message: `expected one of ${editions.join(", ")}, got "${edition}"` },
    ...problems,
  ];
}

function findTlsProblems(tls: TlsFiles | undefined, prefix = ""): readonly OptionProblem[] {
  if (tls === undefined) return [];
  const problems: OptionProblem[] = [];
  if (tls.cert === "") problems.push({ path: `${prefix}tls.cert`, message: "expected a file, got nothing" });
  if (tls.key === "") problems.push({ path: `${prefix}tls.key`, message: "expected a file, got nothing" });
  if ((tls.requireClientCertificate === true || tls.crl !== undefined) && tls.ca === undefined) {
    problems.push({
      path: `${prefix}tls.ca`,
      message: "expected a file to check client certificates against, got nothing",
    });
  }
  return problems;
}

/** Milliseconds. A client with a shorter interval, or none, reports without a pause (client-behaviours H8). */
const SHORTEST_INTERVAL_MS = 1_000;

/** Finds every mistake in the load report options. */
export function findLoadReportProblems(loadReports: LoadReportOptions | false | undefined): readonly OptionProblem[] {
  const { intervalMs } = loadReports === false ? {} : (loadReports ?? {});
  if (intervalMs === undefined || (intervalMs >= SHORTEST_INTERVAL_MS && intervalMs <= LONGEST_MS)) return [];
  const path = "loadReports.intervalMs";
  return [{ path, message: `expected milliseconds from ${SHORTEST_INTERVAL_MS} to ${LONGEST_MS}, got ${intervalMs}` }];
}

function findRestProblems(rest: RestOptions | false | undefined): readonly OptionProblem[] {
  if (rest === undefined || rest === false) return [];
  const times = [["holdMs", rest.holdMs] as const, ["maxHoldMs", rest.maxHoldMs] as const];
  return times.flatMap(([name, ms]): readonly OptionProblem[] => {
    if (ms === undefined || (Number.isInteger(ms) && ms >= 0 && ms <= LONGEST_MS)) return [];
    return [{ path: `rest.${name}`, message: `expected a whole number from 0 to ${LONGEST_MS}, got ${ms}` }];
  });
}

/** Limits for which 0 means "none". */
const MAY_BE_ZERO: readonly LimitName[] = [
  "maxRequestsPerSecondPerIdentity",
  "maxConnectionAgeMs",
  "maxConnectionAgeGraceMs",
  "maxDebounceMs",
  "keepaliveMs",
];

function findPublishesProblems(publishes: string = "always"): readonly OptionProblem[] {
  if (["always", "lease", "never"].includes(publishes)) return [];
  const message = `expected "always", "lease" or "never", got ${describeKind(publishes)}`;
  return [{ path: "ledger.publishes", message }];
}

function findRetentionProblems(
  retention: NonNullable<ManagementServerOptions["ledger"]>["retention"],
): readonly OptionProblem[] {
  return Object.entries(retention ?? {}).flatMap(([name, value]): readonly OptionProblem[] => {
    if (value === undefined || (Number.isSafeInteger(value) && Number(value) > 0)) return [];
    const message = `expected a whole number from 1, got ${describeKind(value)}`;
    return [{ path: `ledger.retention.${name}`, message }];
  });
}

function findLimitProblems(limits: Partial<Limits>): readonly OptionProblem[] {
  return Object.entries(limits).flatMap(([name, value]): readonly OptionProblem[] => {
    if (!isLimitName(name)) return [];
    const least = MAY_BE_ZERO.includes(name) ? 0 : 1;
    const most = name.endsWith("Ms") ? LONGEST_MS : Number.MAX_SAFE_INTEGER;
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return [];
    return [{ path: `limits.${name}`, message: `expected a whole number from ${least} to ${most}, got ${value}` }];
  });
}
