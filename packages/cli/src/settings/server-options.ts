import type { Edition } from "@xdskit/protocol";
import type {
  AdminAddress,
  Limits,
  ListenAddress,
  ManagementServerOptions,
  RestOptions,
  TlsFiles,
} from "@xdskit/server";
import type { SettingKey } from "@xdskit/source";
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
  maxRestRequestBytes: "limits.max-rest-request-bytes",
  maxPendingBytes: "limits.max-pending-bytes",
  maxBlockedMs: "limits.max-blocked",
  maxConnectionAgeMs: "max-connection-age",
  maxConnectionAgeGraceMs: "max-connection-age-grace",
  keepaliveMs: "limits.keepalive",
  keepaliveTimeoutMs: "limits.keepalive-timeout",
  handshakeTimeoutMs: "limits.handshake-timeout",
};

/** What a server is made from, as the settings say. Throws a `CommandError` when they do not go together. */
export function serverOptionsOf(values: SettingValues): Omit<ManagementServerOptions, "api"> {
  const tls = tlsOf(values);
  const edition = editionOf(values);
  return {
    listen: listenAddressOf(values, "listen"),
    admin: adminOf(values),
    insecure: values.flag("insecure") ?? false,
    requireNode: values.flag("require-node") ?? false,
    controlPlane: values.text("control-plane") ?? "xdskit",
    limits: limitsOf(values),
    rest: restOf(values),
    dialect: {
      makeBeforeBreak: values.flag("make-before-break") ?? true,
      orderLimitMs: values.number("order-limit") ?? 30_000,
      maxResponseBytes: values.number("limits.max-response-bytes") ?? 3.5 * 1024 * 1024,
      ttlWithoutFeature: values.flag("ttl-without-feature") ?? false,
      restLongPoll: values.flag("rest.long-poll") ?? true,
    },
    ...(edition !== undefined && { edition }),
    ...(tls !== undefined && { tls }),
  };
}

function adminOf(values: SettingValues): AdminAddress | false {
  if (values.text("admin") === "off") return false;
  return { ...listenAddressOf(values, "admin"), names: values.list("admin-names") };
}

function restOf(values: SettingValues): RestOptions | false {
  if (values.flag("rest.enabled") === false) return false;
  return { holdMs: values.number("rest.hold") ?? 800, maxHoldMs: values.number("rest.max-hold") ?? 30_000 };
}

function listenAddressOf(values: SettingValues, key: "listen" | "admin"): ListenAddress {
  const text = values.text(key) ?? "";
  const address: Address | undefined = parseAddress(text);
  if (address === undefined)
    throw new CommandError(exitCode.usage, `${values.originOf(key) ?? key}: expected host:port, got "${text}"`);
  return address;
}

function editionOf(values: SettingValues): Edition | undefined {
  const editions: readonly Edition[] = ["2018", "2020", "2021", "current"];
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
