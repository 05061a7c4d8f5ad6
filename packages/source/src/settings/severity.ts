import type { FieldProblemCode } from "@xdskit/envoy-api";
import { formatPath, nearestName, quote, type ValuePath } from "@xdskit/protocol/internal";
import { isMapping } from "../document/places.ts";
import type { Problem, SourceProblemCode } from "../problem.ts";
import type { ProblemKind } from "../problem-bound.ts";
import type { SettingsNotes } from "./settings-notes.ts";

/** How a problem counts: an error keeps the whole load from taking effect. */
export type Severity = "error" | "warning" | "off";

/** Every problem code that the readers of files report. */
type Code = SourceProblemCode | FieldProblemCode;

/** What `severity` of `xdskit.yaml` says. */
export type Severities = ReadonlyMap<string, Severity>;

/** `fatal`: nothing comes of what has the problem, so it is always an error. `fixed`: about the reading itself. */
type Standing = "fatal" | "fixed" | "error" | "warning";

/** How problems count unless `severity` says otherwise. */
const standings: Readonly<Record<Code, Standing>> = {
  ...{ SOURCE_DIRECTORY_MISSING: "fatal", SOURCE_DIRECTORY_UNREADABLE: "fatal", SOURCE_EMPTY: "fatal" },
  ...{ SOURCE_READER_ENDED: "fatal", SOURCE_UNWATCHED: "fixed", PROBLEMS_CUT: "fixed" },
  ...{ PUBLISH_REFUSED: "fatal" },
  ...{ FILE_CHANGING: "fatal", FILE_EMPTY: "fatal", FILE_ENCODING: "fatal", FILE_IGNORED: "warning" },
  ...{ FILE_NAME_INVALID: "fatal", FILE_NOT_REGULAR: "fatal", FILE_TOO_LARGE: "fatal", FILE_UNREADABLE: "fatal" },
  ...{ FOLDER_MISPLACED: "fatal", SYMLINK_BROKEN: "fatal", SYMLINK_CYCLE: "fatal" },
  ...{ MODULE_FAILED: "fatal", MODULE_INVALID: "fatal", MODULE_TIMEOUT: "fatal" },
  ...{ JSON_KEY_DUPLICATE: "fatal", JSON_SYNTAX: "fatal", PROTO_MALFORMED: "fatal", TEXT_INVALID: "fatal" },
  ...{ YAML_ALIAS_BOMB: "fatal", YAML_KEY_DUPLICATE: "fatal", YAML_KEY_INVALID: "fatal", YAML_MERGE_KEY: "fatal" },
  ...{ YAML_NOT_PLAIN: "fatal", YAML_SYNTAX: "fatal", YAML_TAG: "fatal", NESTING_TOO_DEEP: "fatal" },
  ...{ DOCUMENT_FIELD_UNKNOWN: "fatal", DOCUMENT_NOT_RECOGNIZED: "fatal", DOCUMENT_WRONG_TYPE: "fatal" },
  ...{ RESOURCE_DUPLICATE: "fatal", RESOURCE_ERROR_INVALID: "fatal", VARIANTS_AMBIGUOUS: "fatal" },
  ...{ LISTENER_ADDRESS_DUPLICATE: "warning", TTL_LEFT_OFF: "warning", RESOURCE_UNUSED: "warning" },
  ...{ REFERENCE_DANGLING: "warning", ROUTE_BASE_HOSTS_MISSING: "warning" },
  ...{ SECRET_FILE_MISSING: "fatal", SECRET_FILE_UNREADABLE: "fatal", SECRET_KEY_MISMATCH: "fatal" },
  ...{ SECRET_PEM_INVALID: "fatal" },
  ...{ GROUP_UNREACHABLE: "warning", GROUP_WITHOUT_FILES: "warning" },
  ...{ ACCESS_NAME_UNKNOWN: "warning", ACCESS_RULE_IDLE: "warning", ADMIN_EXPOSED: "warning" },
  ...{ SECRETS_EXPOSED: "warning" },
  ...{ SETTING_DURATION: "fatal", SETTING_INVALID: "fatal", SETTING_UNKNOWN: "fatal", SETTING_WRONG_TYPE: "fatal" },

  ...{ BYTES_INVALID: "fatal", DURATION_INVALID: "fatal", ENUM_UNKNOWN: "fatal", FIELD_DUPLICATE: "fatal" },
  ...{ FIELD_MASK_INVALID: "fatal", FIELD_UNKNOWN: "fatal", FIELD_WRONG_TYPE: "fatal", MESSAGE_MALFORMED: "fatal" },
  ...{ NUMBER_INVALID: "fatal", ONEOF_CONFLICT: "fatal", RESOURCE_UNNAMED: "fatal", SECRET_REDACTED: "fatal" },
  ...{ STRING_INVALID: "fatal", TIMESTAMP_INVALID: "fatal", TYPE_MISSING: "fatal", TYPE_UNKNOWN: "fatal" },
  ...{ CONSTRAINT_INCOMPLETE: "fatal", REDIRECT_INVALID: "fatal" },

  ...{ ANY_UNREAD: "warning", NAME_MISMATCH: "warning", RESOURCE_NAME_UNUSUAL: "warning", TTL_SHORT: "warning" },
  ...{ CLUSTER_EDS_CONFIG_MISSING: "warning", CLUSTER_EDS_CONFIG_UNUSED: "warning" },
  ...{ CLUSTER_ENDPOINTS_MISSING: "warning", CLUSTER_ENDPOINTS_UNUSED: "warning" },
  ...{ CLUSTER_LB_POLICY_MISMATCH: "warning", CLUSTER_LOGICAL_DNS_ENDPOINTS: "warning" },
  ...{ CLUSTER_SERVICE_NAME_MISSING: "warning", ENDPOINT_ADDRESS_DUPLICATE: "warning" },
  ...{ ENDPOINT_ADDRESS_MISSING: "warning", ENDPOINT_ADDRESS_NOT_IP: "warning" },
  ...{ ENDPOINT_LOCALITY_DUPLICATE: "warning", ENDPOINT_LOCALITY_MISSING: "warning", ENDPOINT_PRIORITY_GAP: "warning" },
  ...{ LISTENER_ADDRESS_MISSING: "warning", LISTENER_API_LISTENER_INVALID: "warning" },
  ...{ LISTENER_FILTER_CHAINS_MISSING: "warning", LISTENER_FILTER_CHAIN_DUPLICATE: "warning" },
  ...{ ROUTE_DOMAIN_DUPLICATE: "warning", ROUTE_SCOPE_TARGET_INVALID: "warning" },
  ...{ ROUTE_VIRTUAL_HOST_DUPLICATE: "warning", ROUTE_VIRTUAL_HOST_NAME_DIFFERS: "warning" },
  ...{ ROUTE_VIRTUAL_HOST_UNPREFIXED: "warning", ROUTE_WEIGHTS_ZERO: "error", ROUTE_REGEX_INVALID: "error" },
  ...{ SECRET_CERTIFICATE_INCOMPLETE: "warning", SECRET_EMPTY: "warning", SECRET_INLINE: "warning" },
  VERSION_LOSS: "warning",
  ...{ PGV_ADDRESS: "warning", PGV_CONST: "warning", PGV_CONTAINS: "warning", PGV_DEFINED_ONLY: "warning" },
  ...{ PGV_EMAIL: "warning", PGV_GT: "warning", PGV_GTE: "warning", PGV_HOSTNAME: "warning", PGV_IN: "warning" },
  ...{ PGV_IP: "warning", PGV_IPV4: "warning", PGV_IPV6: "warning", PGV_LEN: "warning", PGV_LEN_BYTES: "warning" },
  ...{ PGV_LT: "warning", PGV_LTE: "warning", PGV_MAX_BYTES: "warning", PGV_MAX_ITEMS: "warning" },
  ...{ PGV_MAX_LEN: "warning", PGV_MAX_PAIRS: "warning", PGV_MIN_BYTES: "warning", PGV_MIN_ITEMS: "warning" },
  ...{ PGV_MIN_LEN: "warning", PGV_MIN_PAIRS: "warning", PGV_NOT_CONTAINS: "warning", PGV_NOT_IN: "warning" },
  ...{ PGV_PATTERN: "warning", PGV_PREFIX: "warning", PGV_REQUIRED: "warning", PGV_SUFFIX: "warning" },
  ...{ PGV_UNIQUE: "warning", PGV_URI: "warning", PGV_URI_REF: "warning", PGV_UUID: "warning" },
  PGV_WELL_KNOWN_REGEX: "warning",
};

const standingOf: ReadonlyMap<string, Standing> = new Map(Object.entries(standings));
/** Every problem counts as usual. */
export const noSeverities: Severities = new Map();

const words: readonly Severity[] = ["error", "warning", "off"];

/** Reads `severity` of `xdskit.yaml`: how problems count, by code. */
export function readSeverities(notes: SettingsNotes, given: unknown): Severities {
  const severities = new Map<string, Severity>();
  if (given === null) return severities;
  if (!isMapping(given)) {
    notes.wrongType(["severity"], "a mapping of problem codes", given);
    return severities;
  }
  for (const [code, value] of Object.entries(given)) {
    const path = ["severity", code];
    // YAML 1.1 tools write `off` as false.
    const word = value === false ? "off" : words.find((one) => one === value);
    const standing = standingOf.get(code);
    if (standing === undefined) notes.note("SETTING_UNKNOWN", path, "key", ...unknownCode(code));
    else if (word === undefined) notes.wrongType(path, "error, warning or off", value);
    else if (standing === "fatal" && word !== "error") {
      notes.note(
        "SETTING_INVALID",
        path,
        "value",
        `expected error for ${code}, got ${word}`,
        "nothing can be served of it",
      );
    } else if (standing === "fixed") {
      notes.note(
        "SETTING_INVALID",
        path,
        "value",
        `${code} is about the reading itself and always reported`,
        "remove it",
      );
    } else severities.set(code, word);
  }
  return severities;
}

function unknownCode(code: string): readonly [message: string, hint: string] {
  const meant = nearestName(code, standingOf.keys());
  const hint = meant === undefined ? "see the list of problem codes" : `did you mean ${quote(meant)}?`;
  return [`expected a problem code, got ${quote(code)}`, hint];
}

/** The field whose upper limit is that of ports: Envoy rejects what is above, and nothing else could be meant. */
const PORT = /(?:port_value|portValue)$/;

/** The kind of a problem, with its path only where that decides how the problem counts. */
export function problemKind(
  { code, severity, omitted }: Pick<Problem, "severity" | "omitted"> & { readonly code: string },
  path: ValuePath,
): ProblemKind {
  return code === "PGV_LTE"
    ? { code, severity, path: formatPath(path), ...(omitted && { omitted }) }
    : { code, severity, ...(omitted && { omitted }) };
}

/** The problem as it counts; undefined: it is off. What was refused while reading stays an error. */
export function withSeverity<P extends Pick<Problem, "code" | "severity">>(
  problem: P & { readonly path?: string },
  severities: Severities,
): P | undefined {
  if (problem.severity === "error") return problem;
  const isPort = problem.code === "PGV_LTE" && PORT.test(problem.path ?? "");
  const usual = isPort || standingOf.get(problem.code) === "error" ? "error" : "warning";
  const severity = severities.get(problem.code) ?? usual;
  if (severity === "off") return undefined;
  return severity === problem.severity ? problem : { ...problem, severity };
}
