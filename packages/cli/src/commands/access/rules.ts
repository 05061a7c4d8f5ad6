import type { EnvoyApi } from "@xdskit/envoy-api";
import type { AccessRules, Node, NodeMappingRejection, Peer, TypeUrl } from "@xdskit/protocol";
import { type AccessPolicy, createAccess, layersFor, typeKindTable } from "@xdskit/protocol/internal";
import type { AccessRulesAnswer, AdminEntry } from "@xdskit/server";
import { type LoadedState, readSettings, settingsFile } from "@xdskit/source";
import { CommandError, exitCode } from "../../exit-code.ts";
import { loadApi } from "../../settings/load-api.ts";
import { resolveSettings, type SettingValues } from "../../settings/resolve-settings.ts";
import { createSource } from "../../settings/source.ts";
import { requireDirectory, sourcePlaceOf } from "../../settings/source-place.ts";
import type { CommandContext } from "../context.ts";

/** The rules of a directory, with what they are about. */
export interface RulesInFiles {
  readonly api: EnvoyApi;
  readonly state: LoadedState;
  readonly policy: AccessPolicy;
  /** `xdskit.yaml:7` of each rule. */
  readonly places: readonly string[];
  /** The CAs of clients and their revocation lists, on the xDS port. */
  readonly trust: TrustFiles;
  /** On the admin port. */
  readonly adminTrust: TrustFiles;
  /** Who has which role there; undefined: there is none. */
  readonly adminEntry: AdminEntry | undefined;
}

interface TrustFiles {
  readonly ca: string | undefined;
  readonly crl: string | undefined;
}

/** Loads a directory and compiles its rules. Throws a `CommandError` if it has errors. */
export async function loadRules(given: string, { io }: CommandContext): Promise<RulesInFiles> {
  const place = await sourcePlaceOf(given, io.cwd);
  await requireDirectory(place);
  const { directory, shown } = place;
  const file = await readSettings(directory);
  const { values, troubles } = resolveSettings({ flags: {}, env: io.env, file, cwd: io.cwd, directory });
  if (troubles.length > 0) throw new CommandError(exitCode.usage, troubles.join("\n"));
  const api = await loadApi(values.list("descriptors"));
  const { state } = await createSource(place, values, { api, io }).load();
  if (state === undefined)
    throw new CommandError(exitCode.sourceBroken, `${shown} has errors`, `xds validate ${shown} lists them`);
  const clientStatus = values.text("client-status") as AccessRulesAnswer["clientStatus"] | undefined;
  const policy = policyOf(api, {
    kind: values.flag("insecure") === true ? "insecure" : "default",
    ...(state.access !== undefined && { rules: state.access }),
    clientStatus: clientStatus ?? "loopback",
  });
  const prefix = place.shownDirectory === "." ? "" : `${place.shownDirectory}/`;
  const places = (file.accessPlaces ?? []).map(({ line }) => `${prefix}${settingsFile}:${line}`);
  return {
    ...{ api, state, policy, places },
    trust: { ca: values.text("tls.ca"), crl: values.text("tls.crl") },
    adminEntry: adminEntryOf(values),
    adminTrust: { ca: values.text("admin-tls.ca"), crl: values.text("admin-tls.crl") },
  };
}

function adminEntryOf(values: SettingValues): AdminEntry | undefined {
  if (values.text("admin") === "off") return undefined;
  const [viewers, operators] = [values.list("admin-viewers"), values.list("admin-operators")];
  const insecure = values.flag("insecure") === true;
  return { hasTls: values.text("admin-tls.cert") !== undefined, rules: { viewers, operators, insecure } };
}

/** The layers that a node would see. */
export function layersIn(
  { groups, layers }: LoadedState,
  node: Node,
  peer: Peer,
): readonly string[] | NodeMappingRejection {
  return layersFor({ groups }, { node, peer }, (layer) => layers.has(layer));
}

/** The policy that a server would make of such rules. */
export function policyOf(
  api: EnvoyApi,
  { kind, rules, clientStatus }: Omit<AccessRulesAnswer, "rules"> & { readonly rules?: AccessRules },
): AccessPolicy {
  const isSecret = (type: TypeUrl): boolean => typeKindTable[api.traits(type)?.kind ?? "opaque"].isSecret;
  const policy = createAccess({
    access: rules,
    insecure: kind === "insecure",
    statusReaders: clientStatus,
    isSecret,
    twinOf: (type) => api.traits(type)?.twin,
    onThrown: () => undefined,
  });
  if (!("problems" in policy)) return policy;
  throw new CommandError(exitCode.problems, policy.problems.map(({ message }) => message).join("; "));
}
