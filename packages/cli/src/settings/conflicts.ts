import { type Problem, type SettingKey, settingsFile } from "@xdskit/source";
import { mistakeInStoreUrl } from "./ledger-store.ts";
import { isInSource, ownSource } from "./own-source.ts";
import type { SettingTrouble, SettingValues } from "./resolve-settings.ts";
import type { SourcePlace } from "./source-place.ts";

/** Mistakes in settings whose values are valid, but not together or not with the source. */
export interface SettingConflicts {
  /** Those of settings in `xdskit.yaml`. */
  readonly problems: readonly Problem[];
  /** Those of flags and variables. */
  readonly troubles: readonly SettingTrouble[];
}

interface Conflict {
  /** One of the settings that do not fit, which was set. */
  readonly key: SettingKey;
  readonly message: string;
  readonly hint?: string;
}

/** Finds the settings with which no server can start. Without a source only a store is followed. */
export async function findConflicts(
  values: SettingValues,
  source: Pick<SourcePlace, "directory" | "module"> | undefined,
): Promise<SettingConflicts> {
  const conflicts = [
    ...tlsConflicts(values, "tls"),
    ...(values.text("admin") === "off" ? [] : adminConflicts(values)),
    ...storeConflicts(values),
    ...(await exportConflicts(values, source)),
  ];
  const problems: Problem[] = [];
  const troubles: SettingTrouble[] = [];
  for (const { key, message, hint } of conflicts) {
    const place = values.placeOf(key);
    if (place === undefined)
      troubles.push(`${values.originOf(key) ?? key}: ${message}${hint === undefined ? "" : ` (${hint})`}`);
    else
      problems.push({
        ...{ code: "SETTING_INVALID", severity: "error", file: settingsFile, ...place, path: key },
        ...{ message, ...(hint !== undefined && { hint }) },
      });
  }
  return { problems, troubles };
}

function adminConflicts(values: SettingValues): readonly Conflict[] {
  const ofTls = tlsConflicts(values, "admin-tls");
  if (ofTls.length > 0) return ofTls;
  const hasTls = isSet(values, "admin-tls.cert");
  if (hasTls && !isSet(values, "admin-tls.ca")) return [needsCa("admin-tls.cert", "admin-tls")];
  const roles = (["admin-viewers", "admin-operators"] as const).filter((key) => values.list(key).length > 0);
  if (hasTls) return [];
  const message = "names of certificates need TLS of the admin API";
  return roles.map((key) => ({ key, message, hint: "set admin-tls.cert, admin-tls.key and admin-tls.ca" }));
}

function tlsConflicts(values: SettingValues, of: "tls" | "admin-tls"): readonly Conflict[] {
  const files = (["cert", "key", "ca", "crl"] as const).map((name): SettingKey => `${of}.${name}`);
  const requires = of === "tls" && values.flag("tls.require-client-certificate") === true;
  const [first] = [
    ...files.filter((key) => isSet(values, key)),
    ...(requires ? (["tls.require-client-certificate"] as const) : []),
  ];
  if (first === undefined) return [];
  if (!isSet(values, `${of}.cert`) || !isSet(values, `${of}.key`)) {
    const message = "TLS needs both a certificate and its key";
    return [{ key: first, message, hint: `set ${of}.cert and ${of}.key` }];
  }
  if (isSet(values, `${of}.ca`)) return [];
  if (isSet(values, `${of}.crl`)) return [needsCa(`${of}.crl`, of)];
  return requires ? [needsCa("tls.require-client-certificate", of)] : [];
}

function needsCa(key: SettingKey, of: "tls" | "admin-tls"): Conflict {
  return { key, message: "client certificates need CAs to be checked against", hint: `set ${of}.ca` };
}

function isSet(values: SettingValues, key: SettingKey): boolean {
  return values.text(key) !== undefined;
}

function storeConflicts(values: SettingValues): readonly Conflict[] {
  const url = values.text("store");
  const mistake = url === undefined ? undefined : mistakeInStoreUrl(url);
  return mistake === undefined ? [] : [{ key: "store", ...mistake }];
}

async function exportConflicts(
  values: SettingValues,
  source: Pick<SourcePlace, "directory" | "module"> | undefined,
): Promise<readonly Conflict[]> {
  const out = values.text("export.directory");
  if (source === undefined || out === undefined || !(await isInSource(source, out))) return [];
  return [{ key: "export.directory", ...ownSource }];
}
