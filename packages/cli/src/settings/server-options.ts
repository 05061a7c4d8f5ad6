import { resolve } from "node:path";
import type { ResponseFormat } from "@xdskit/envoy-api";
import { type Edition, editions } from "@xdskit/protocol";
import type {
  AdminAddress,
  ClientStatusAccess,
  FileOutput,
  Http2Engine,
  Limits,
  ListenAddress,
  ListenOptions,
  LoadReportOptions,
  ManagementServerOptions,
  RestOptions,
  TlsFiles,
  V2Mode,
} from "@xdskit/server";
import { type ListenerSettings, type ListenerTls, readServerSwitches, type SettingKey } from "@xdskit/source";
import { parseAddress } from "./address.ts";
import type { SettingValues } from "./resolve-settings.ts";
import { responseFormats } from "./response-formats.ts";

/** The setting of each server limit. */
const LIMITS: Readonly<Record<keyof Limits, SettingKey>> = {
  maxConnections: "limits.max-connections",
  maxConnectionsPerPeer: "limits.max-connections-per-peer",
  maxConnectionsPerIdentity: "limits.max-connections-per-identity",
  maxStreams: "limits.max-streams",
  maxStreamsPerPeer: "limits.max-streams-per-peer",
  maxStreamsPerIdentity: "limits.max-streams-per-identity",
  maxRequestsPerSecondPerIdentity: "limits.max-requests-per-second-per-identity",
  maxSubscriptionsPerStream: "limits.max-subscriptions-per-stream",
  maxSubscriptionsPerPeer: "limits.max-subscriptions-per-peer",
  maxSubscriptionsPerIdentity: "limits.max-subscriptions-per-identity",
  maxTypesPerStream: "limits.max-types-per-stream",
  maxUnacknowledgedPerType: "limits.max-unacknowledged-per-type",
  maxRequestBytes: "limits.max-request-bytes",
  maxRestRequestBytes: "limits.max-rest-request-bytes",
  maxNodeBytes: "limits.max-node-bytes",
  maxClientBytes: "limits.max-client-bytes",
  maxClientBytesPerPeer: "limits.max-client-bytes-per-peer",
  maxClientBytesPerIdentity: "limits.max-client-bytes-per-identity",
  maxReceivedBytes: "limits.max-received-bytes",
  maxReceivedBytesPerPeer: "limits.max-received-bytes-per-peer",
  maxReceivedBytesPerIdentity: "limits.max-received-bytes-per-identity",
  maxPollerBytes: "limits.max-poller-bytes",
  maxPollerBytesPerPeer: "limits.max-poller-bytes-per-peer",
  maxPollerBytesPerIdentity: "limits.max-poller-bytes-per-identity",
  maxMessageMs: "limits.max-message-time",
  maxSmallFragments: "limits.max-small-fragments",
  maxPendingBytes: "limits.max-pending-bytes",
  maxBlockedMs: "limits.max-blocked",
  maxConnectionAgeMs: "max-connection-age",
  maxConnectionAgeGraceMs: "max-connection-age-grace",
  maxStatusBytes: "limits.max-status-bytes",
  maxLoadReporters: "limits.max-load-reporters",
  maxLoadEntries: "limits.max-load-entries",
  maxDebounceMs: "max-debounce",
  keepaliveMs: "limits.keepalive",
  keepaliveTimeoutMs: "limits.keepalive-timeout",
  handshakeTimeoutMs: "limits.handshake-timeout",
};

/**
 * Converts settings without conflicts to the options of a server.
 *
 * @param mostConnections How many connections this process can have; undefined: as many as the settings say.
 */
export function serverOptionsOf(
  values: SettingValues,
  listeners: readonly ListenerSettings[],
  directory: string,
  { mostConnections }: { readonly mostConnections?: number | undefined } = {},
): Omit<ManagementServerOptions, "api"> {
  const tls = tlsOf(values, "tls");
  const adminSocket = values.text("admin-socket");
  const edition = editionOf(values);
  const clientStatus = clientStatusOf(values);
  const v2 = v2ModeOf(values);
  const http2 = http2EngineOf(values);
  return {
    listen: [addressOf(values.text("listen")), ...listeners.map((listener) => listenerOf(listener, directory))],
    admin: adminOf(values),
    ...(adminSocket !== undefined && { adminSocket }),
    insecure: values.flag("insecure") ?? false,
    ...requireNodeOf(values),
    controlPlane: values.text("control-plane") ?? "xdskit",
    limits: limitsOf(values, mostConnections),
    rest: restOf(values),
    dialect: dialectOf(values),
    ...(v2 !== undefined && { v2 }),
    ...(http2 !== undefined && { http2 }),
    loadReports: loadReportsOf(values),
    files: filesOf(values),
    ...(edition !== undefined && { edition }),
    ...(clientStatus !== undefined && { clientStatus }),
    ...(tls !== undefined && { tls }),
  };
}

function filesOf(values: SettingValues): readonly FileOutput[] {
  const directory = values.text("export.directory");
  if (directory === undefined) return [];
  return [
    {
      directory,
      format: responseFormatOf(values.text("export.format")),
      node: { id: values.text("export.node") ?? "", cluster: values.text("export.cluster") ?? "" },
      rewriteSources: values.flag("export.rewrite-sources") ?? false,
      symlinks: values.flag("export.symlinks") ?? false,
      settleMs: values.number("export.settle") ?? 250,
    },
  ];
}

function responseFormatOf(text: string | undefined): ResponseFormat {
  return responseFormats.find((format) => format === text) ?? "yaml";
}

/** The dialect overrides that were set; the edition decides the others. */
function dialectOf(values: SettingValues): NonNullable<ManagementServerOptions["dialect"]> {
  const isSet = (key: SettingKey): boolean => values.originOf(key) !== undefined;
  const { makeBeforeBreak, ...overrides } = readServerSwitches(values.list("switches")).overrides;
  const order = isSet("make-before-break") ? { otherwise: values.flag("make-before-break") ?? true } : {};
  const kinds = typeof makeBeforeBreak === "object" ? makeBeforeBreak : {};
  const takesPart = { ...order, ...kinds };
  const orderLimitMs = isSet("order-limit") ? values.number("order-limit") : undefined;
  const maxResponseBytes = isSet("limits.max-response-bytes") ? values.number("limits.max-response-bytes") : undefined;
  const ttlWithoutFeature = isSet("ttl-without-feature") ? values.flag("ttl-without-feature") : undefined;
  const restLongPoll = isSet("rest.long-poll") ? values.flag("rest.long-poll") : undefined;
  return {
    ...overrides,
    ...(Object.keys(takesPart).length > 0 && { makeBeforeBreak: takesPart }),
    ...(orderLimitMs !== undefined && { orderLimitMs }),
    ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    ...(ttlWithoutFeature !== undefined && { ttlWithoutFeature }),
    ...(restLongPoll !== undefined && { restLongPoll }),
  };
}

function requireNodeOf(values: SettingValues): Pick<ManagementServerOptions, "requireNode"> {
  const requireNode = values.flag("require-node");
  return requireNode === undefined ? {} : { requireNode };
}

function listenerOf({ address, tls, edition, dialect }: ListenerSettings, directory: string): ListenOptions {
  return {
    ...addressOf(address),
    ...(edition !== undefined && { edition }),
    ...(dialect !== undefined && { dialect }),
    ...(tls === "off" && { tls: false }),
    ...(typeof tls === "object" && { tls: tlsFilesOf(tls, directory) }),
  };
}

/** Paths in the file are relative to its directory. */
function tlsFilesOf({ cert, key, ca, crl, requireClientCertificate }: ListenerTls, directory: string): TlsFiles {
  return {
    cert: resolve(directory, cert),
    key: resolve(directory, key),
    ...(ca !== undefined && { ca: resolve(directory, ca) }),
    ...(crl !== undefined && { crl: resolve(directory, crl) }),
    ...(requireClientCertificate !== undefined && { requireClientCertificate }),
  };
}

function adminOf(values: SettingValues): AdminAddress | false {
  if (values.text("admin") === "off") return false;
  const tls = tlsOf(values, "admin-tls");
  const [viewers, operators] = [values.list("admin-viewers"), values.list("admin-operators")];
  return {
    ...addressOf(values.text("admin")),
    names: values.list("admin-names"),
    ...(tls !== undefined && { tls }),
    ...(viewers.length > 0 && { viewers }),
    ...(operators.length > 0 && { operators }),
  };
}

function restOf(values: SettingValues): RestOptions | false {
  if (values.flag("rest.enabled") === false) return false;
  return {
    holdMs: values.number("rest.hold") ?? 800,
    maxHoldMs: values.number("rest.max-hold") ?? 30_000,
    names: values.list("rest.names"),
  };
}

/** The address in the text of a setting, which was checked when it was read. */
function addressOf(text: string | undefined): ListenAddress {
  const address = parseAddress(text ?? "");
  if (address === undefined) throw new Error(`invariant: ${text} is no address`);
  return address;
}

function editionOf(values: SettingValues): Edition | undefined {
  if (values.originOf("edition") === undefined) return undefined;
  return editions.find((edition) => edition === values.text("edition"));
}

function clientStatusOf(values: SettingValues): ClientStatusAccess | undefined {
  const words: readonly ClientStatusAccess[] = ["off", "loopback", "certificate", "everybody"];
  return words.find((word) => word === values.text("client-status"));
}

function v2ModeOf(values: SettingValues): V2Mode | undefined {
  const modes: readonly V2Mode[] = ["convert", "exact", "off"];
  return modes.find((mode) => mode === values.text("v2"));
}

function http2EngineOf(values: SettingValues): Http2Engine | undefined {
  const engines: readonly Http2Engine[] = ["builtin", "node"];
  return engines.find((engine) => engine === values.text("http2"));
}

function loadReportsOf(values: SettingValues): LoadReportOptions | false {
  if (values.text("load-reports.interval") === "off") return false;
  const intervalMs = values.number("load-reports.interval");
  const clusters = values.list("load-reports.clusters");
  const endpoints = values.flag("load-reports.endpoints");
  return {
    ...(intervalMs !== undefined && { intervalMs }),
    ...(clusters.length > 0 && { clusters }),
    ...(endpoints !== undefined && { endpoints }),
  };
}

function tlsOf(values: SettingValues, of: "tls" | "admin-tls"): TlsFiles | undefined {
  const cert = values.text(`${of}.cert`);
  const key = values.text(`${of}.key`);
  const ca = values.text(`${of}.ca`);
  const crl = values.text(`${of}.crl`);
  const requireClientCertificate = of === "tls" ? values.flag("tls.require-client-certificate") : undefined;
  if (cert === undefined && key === undefined) return undefined;
  // Never plaintext where TLS was meant.
  if (cert === undefined || key === undefined) throw new Error(`invariant: ${of} has a certificate without its key`);
  return {
    cert,
    key,
    ...(ca !== undefined && { ca }),
    ...(crl !== undefined && { crl }),
    ...(requireClientCertificate !== undefined && { requireClientCertificate }),
  };
}

function limitsOf(values: SettingValues, mostConnections: number | undefined): Partial<Limits> {
  const limits: Partial<Record<keyof Limits, number>> = {};
  for (const name of limitNames()) {
    const value = values.number(LIMITS[name]);
    if (value !== undefined) limits[name] = value;
  }
  const { maxConnections } = limits;
  if (maxConnections !== undefined && mostConnections !== undefined)
    limits.maxConnections = Math.min(maxConnections, mostConnections);
  return limits;
}

function limitNames(): readonly (keyof Limits)[] {
  return Object.keys(LIMITS).filter((name): name is keyof Limits => Object.hasOwn(LIMITS, name));
}
