import type { AccessRule, AccessRules } from "@xdskit/protocol";
import type { ListenOptions, ManagementServerOptions } from "@xdskit/server";
import { type Problem, type SettingsContent, settingsFile } from "@xdskit/source";
import { type Address, formatAddress } from "./address.ts";

/** What a server is created from, and where it stands in the file. */
export interface Exposed {
  readonly options: Pick<ManagementServerOptions, "admin" | "insecure" | "listen" | "tls">;
  readonly file: Pick<SettingsContent, "access" | "accessPlaces" | "places">;
}

/** Warns of settings that give away more than most people mean to: to whoever reaches the port. */
export function findExposure({ options, file }: Exposed): readonly Problem[] {
  const outer = listenersBeyondLoopback(options).map(formatAddress).join(", ");
  const { access, accessPlaces = [], places } = file;
  const problems: Problem[] = [];
  const warn = (code: string, at: object | undefined, message: string, hint: string): void =>
    void problems.push({ code, severity: "warning", file: settingsFile, ...at, message, hint });
  if (outer !== "" && options.insecure === true && access === undefined) {
    const message = `insecure gives Secrets and the layers of single nodes to whoever reaches ${outer}`;
    warn("SECRETS_EXPOSED", { ...places.insecure, path: "insecure" }, message, "give access rules instead");
  }
  for (const [index, rule] of (access?.rules ?? []).entries()) {
    if (outer === "" || !givesSecretsToUnknown(rule)) continue;
    const message = `the rule gives Secrets to callers without a certificate that reach ${outer}`;
    const at = { ...accessPlaces[index], path: `access.rules[${index}]` };
    warn("SECRETS_EXPOSED", at, message, "name identities of certificates, or other types");
  }
  const { admin } = options;
  if (admin !== undefined && admin !== false && isBeyondLoopback(admin.host) && admin.tls === undefined) {
    const shown = formatAddress(addressOf(admin));
    const opens = options.insecure === true ? "everybody may read it" : "remote callers get health and metrics only";
    const message = `the admin API listens beyond loopback at ${shown} without TLS: ${opens}`;
    const hint = "set admin-tls, or listen at 127.0.0.1 or admin-socket";
    warn("ADMIN_EXPOSED", { ...places.admin, path: "admin" }, message, hint);
  }
  return problems;
}

/** The addresses that other machines can reach. */
function listenersBeyondLoopback({ listen = {} }: Exposed["options"]): readonly Address[] {
  const listeners: readonly ListenOptions[] = "length" in listen ? listen : [listen];
  return listeners.filter(({ host }) => isBeyondLoopback(host)).map(addressOf);
}

function isBeyondLoopback(host: string = "127.0.0.1"): boolean {
  return !(host === "localhost" || host === "::1" || host.startsWith("127."));
}

function addressOf({ host = "127.0.0.1", port = 0 }: ListenOptions): Address {
  return { host, port };
}

/** Only a rule that names Secrets gives them to a caller that has no certificate. */
function givesSecretsToUnknown({ identities, types = [], deny, entryPoints }: AccessRule): boolean {
  const isForUnknown = identities.some((one) => one === "anyone" || /^address:(?!127\.|::1$)/.test(one));
  const givesSecrets = types.some((type) => type === "*" || /(?:^|\.)Secret$/.test(type));
  const isDiscovery = entryPoints?.every((point) => !/^(?:ads|stream|fetch|rest)$/.test(point)) !== true;
  return deny !== true && isForUnknown && givesSecrets && isDiscovery;
}

/** Who may do what, in a few rows. */
export function describeAccess(
  { options, file }: Exposed,
  clientStatus: string,
  access: AccessRules | undefined = file.access,
): readonly (readonly [who: string, may: string])[] {
  const { admin, insecure = false } = options;
  const isOuter = listenersBeyondLoopback(options).length > 0;
  const isTrusted = access?.loopback !== "rules";
  const readers = clientStatus === "off" ? "nobody" : access === undefined ? clientStatus : "by the rules";
  return [
    ["clients on loopback", isTrusted ? "everything" : "by the rules"],
    ...(isOuter ? ([["clients elsewhere", describeOuter(access, insecure)]] as const) : []),
    ["client status", isTrusted && readers === "by the rules" ? "loopback, others by the rules" : readers],
    ...(admin === undefined || admin === false
      ? []
      : ([["admin API", describeAdmin(admin.tls !== undefined, isBeyondLoopback(admin.host), insecure)]] as const)),
  ];
}

function describeOuter(access: AccessRules | undefined, insecure: boolean): string {
  if (access !== undefined) {
    const { length } = access.rules;
    return length === 0 ? "nothing: there are no rules" : `by ${length} ${length === 1 ? "rule" : "rules"} of access`;
  }
  if (insecure) return "everything, Secrets and the layers of single nodes too: insecure is set";
  return "no Secrets and no layers of single nodes, unless their certificate names the node";
}

function describeAdmin(hasTls: boolean, isOuter: boolean, insecure: boolean): string {
  if (hasTls) return "by admin-viewers and admin-operators; health and metrics for everybody";
  if (!isOuter) return "loopback";
  return insecure ? "everybody reads: insecure is set" : "loopback; health and metrics for everybody";
}
