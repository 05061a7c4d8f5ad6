import { resolve } from "node:path";
import { type Edition, editions } from "@xdskit/protocol";
import type {
  AdminAddress,
  Limits,
  ListenAddress,
  ListenOptions,
  ManagementServerOptions,
  TlsFiles,
} from "@xdskit/server";
import {
  type ListenerSettings,
  type ListenerTls,
  readServerSwitches,
  type SettingKey,
  settingsFile,
} from "@xdskit/source";
import { CommandError, exitCode } from "../exit-code.ts";
import { type Address, parseAddress } from "./address.ts";
import type { SettingValues } from "./resolve-settings.ts";

/** Each limit of the server, by the setting that says it. */
const LIMITS: Readonly<Record<keyof Limits, SettingKey>> = {
  maxConnections: "limits.max-connections",
  maxStreams: "limits.max-streams",
  maxStreamsPerPeer: "limits.max-streams-per-peer",
  maxSubscriptionsPerStream: "limits.max-subscriptions-per-stream",
  maxRequestBytes: "limits.max-request-bytes",
  maxPendingBytes: "limits.max-pending-bytes",
  maxBlockedMs: "limits.max-blocked",
  maxConnectionAgeMs: "max-connection-age",
  maxConnectionAgeGraceMs: "max-connection-age-grace",
  keepaliveMs: "limits.keepalive",
  keepaliveTimeoutMs: "limits.keepalive-timeout",
  handshakeTimeoutMs: "limits.handshake-timeout",
};

/** What a server is made from, as the settings say. Throws a `CommandError` when they do not go together. */
export function serverOptionsOf(
  values: SettingValues,
  listeners: readonly ListenerSettings[],
  directory: string,
): Omit<ManagementServerOptions, "api"> {
  const tls = tlsOf(values);
  const edition = editionOf(values);
  return {
    listen: [listenAddressOf(values, "listen"), ...listeners.map((listener) => listenerOf(listener, directory))],
    admin: adminOf(values),
    insecure: values.flag("insecure") ?? false,
    ...requireNodeOf(values),
    controlPlane: values.text("control-plane") ?? "xdskit",
    limits: limitsOf(values),
    dialect: dialectOf(values),
    ...(edition !== undefined && { edition }),
    ...(tls !== undefined && { tls }),
  };
}

/** Switches that were set; where nobody said anything the edition does. */
function dialectOf(values: SettingValues): NonNullable<ManagementServerOptions["dialect"]> {
  const isSet = (key: SettingKey): boolean => values.originOf(key) !== undefined;
  const { makeBeforeBreak, ...overrides } = readServerSwitches(values.list("switches")).overrides;
  const order = isSet("make-before-break") ? { otherwise: values.flag("make-before-break") ?? true } : {};
  const kinds = typeof makeBeforeBreak === "object" ? makeBeforeBreak : {};
  const takesPart = { ...order, ...kinds };
  const orderLimitMs = isSet("order-limit") ? values.number("order-limit") : undefined;
  const maxResponseBytes = isSet("limits.max-response-bytes") ? values.number("limits.max-response-bytes") : undefined;
  const ttlWithoutFeature = isSet("ttl-without-feature") ? values.flag("ttl-without-feature") : undefined;
  return {
    ...overrides,
    ...(Object.keys(takesPart).length > 0 && { makeBeforeBreak: takesPart }),
    ...(orderLimitMs !== undefined && { orderLimitMs }),
    ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    ...(ttlWithoutFeature !== undefined && { ttlWithoutFeature }),
  };
}

function requireNodeOf(values: SettingValues): Pick<ManagementServerOptions, "requireNode"> {
  const requireNode = values.flag("require-node");
  return requireNode === undefined ? {} : { requireNode };
}

function listenerOf(
  { address, tls, edition, dialect, line, column }: ListenerSettings,
  directory: string,
): ListenOptions {
  const found = parseAddress(address);
  if (found === undefined)
    throw new CommandError(
      exitCode.usage,
      `${settingsFile}:${line}:${column}: listeners: expected host:port, got "${address}"`,
    );
  return {
    ...found,
    ...(edition !== undefined && { edition }),
    ...(dialect !== undefined && { dialect }),
    ...(tls === "off" && { tls: false }),
    ...(typeof tls === "object" && { tls: filesOf(tls, directory) }),
  };
}

/** Paths of the file start at the file. */
function filesOf({ cert, key, ca, requireClientCertificate }: ListenerTls, directory: string): TlsFiles {
  return {
    cert: resolve(directory, cert),
    key: resolve(directory, key),
    ...(ca !== undefined && { ca: resolve(directory, ca) }),
    ...(requireClientCertificate !== undefined && { requireClientCertificate }),
  };
}

function adminOf(values: SettingValues): AdminAddress | false {
  if (values.text("admin") === "off") return false;
  return { ...listenAddressOf(values, "admin"), names: values.list("admin-names") };
}

function listenAddressOf(values: SettingValues, key: "listen" | "admin"): ListenAddress {
  const text = values.text(key) ?? "";
  const address: Address | undefined = parseAddress(text);
  if (address === undefined)
    throw new CommandError(exitCode.usage, `${values.originOf(key) ?? key}: expected host:port, got "${text}"`);
  return address;
}

function editionOf(values: SettingValues): Edition | undefined {
  if (values.originOf("edition") === undefined) return undefined;
  return editions.find((edition) => edition === values.text("edition"));
}

function tlsOf(values: SettingValues): TlsFiles | undefined {
  const cert = values.text("tls.cert");
  const key = values.text("tls.key");
  const ca = values.text("tls.ca");
  const requireClientCertificate = values.flag("tls.require-client-certificate");
  if (cert !== undefined && key !== undefined) {
    return {
      cert,
      key,
      ...(ca !== undefined && { ca }),
      ...(requireClientCertificate !== undefined && { requireClientCertificate }),
    };
  }
  if (cert === undefined && key === undefined && ca === undefined && requireClientCertificate !== true)
    return undefined;
  throw new CommandError(exitCode.usage, "TLS needs both a certificate and its key", "give --tls-cert and --tls-key");
}

function limitsOf(values: SettingValues): Partial<Limits> {
  const limits: Partial<Record<keyof Limits, number>> = {};
  for (const name of limitNames()) {
    const value = values.number(LIMITS[name]);
    if (value !== undefined) limits[name] = value;
  }
  return limits;
}

function limitNames(): readonly (keyof Limits)[] {
  return Object.keys(LIMITS).filter((name): name is keyof Limits => Object.hasOwn(LIMITS, name));
}
