import { type BaseProblem, formatPath, type ValuePath } from "@xdskit/protocol/internal";

/**
 * All problem codes of this package. Problems inside a resource have codes of `envoy-api` instead (`FIELD_UNKNOWN`,
 * `PGV_…`). Codes are stable; a retired one is not reused.
 */
export type SourceProblemCode =
  // the directory
  | "SOURCE_DIRECTORY_MISSING"
  | "SOURCE_DIRECTORY_UNREADABLE"
  | "SOURCE_EMPTY"
  | "SOURCE_READER_ENDED"
  | "SOURCE_UNWATCHED"
  | "PROBLEMS_CUT"
  | "PUBLISH_REFUSED"
  // a file or folder
  | "FILE_CHANGING"
  | "FILE_EMPTY"
  | "FILE_ENCODING"
  | "FILE_IGNORED"
  | "FILE_NAME_INVALID"
  | "FILE_NOT_REGULAR"
  | "FILE_TOO_LARGE"
  | "FILE_UNREADABLE"
  | "FOLDER_MISPLACED"
  | "SYMLINK_BROKEN"
  | "SYMLINK_CYCLE"
  // a module
  | "MODULE_FAILED"
  | "MODULE_INVALID"
  | "MODULE_TIMEOUT"
  // its text
  | "JSON_KEY_DUPLICATE"
  | "JSON_SYNTAX"
  | "PROTO_MALFORMED"
  | "TEXT_INVALID"
  | "YAML_ALIAS_BOMB"
  | "YAML_KEY_DUPLICATE"
  | "YAML_KEY_INVALID"
  | "YAML_MERGE_KEY"
  | "YAML_NOT_PLAIN"
  | "YAML_SYNTAX"
  | "YAML_TAG"
  | "NESTING_TOO_DEEP"
  // its content
  | "DOCUMENT_FIELD_UNKNOWN"
  | "DOCUMENT_NOT_RECOGNIZED"
  | "DOCUMENT_WRONG_TYPE"
  | "LISTENER_ADDRESS_DUPLICATE"
  | "TTL_LEFT_OFF"
  | "RESOURCE_DUPLICATE"
  | "RESOURCE_ERROR_INVALID"
  | "RESOURCE_UNUSED"
  | "REFERENCE_DANGLING"
  | "ROUTE_BASE_HOSTS_MISSING"
  | "SECRET_FILE_MISSING"
  | "SECRET_FILE_UNREADABLE"
  | "SECRET_KEY_MISMATCH"
  | "SECRET_PEM_INVALID"
  | "VARIANTS_AMBIGUOUS"
  // xdskit.yaml
  | "ACCESS_NAME_UNKNOWN"
  | "ACCESS_RULE_IDLE"
  | "ADMIN_EXPOSED"
  | "GROUP_UNREACHABLE"
  | "GROUP_WITHOUT_FILES"
  | "SECRETS_EXPOSED"
  | "SETTING_DURATION"
  | "SETTING_INVALID"
  | "SETTING_UNKNOWN"
  | "SETTING_WRONG_TYPE";

/** A position in a file, 1-based. Columns count UTF-16 code units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A problem in the operator's input, and where it is. */
export interface Problem extends BaseProblem {
  /** A `SourceProblemCode`, or the code of a `FieldProblem`. */
  readonly code: string;
  /** Relative to the directory, separated by "/"; "." is the directory itself. */
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The line, cut; absent if it may contain a secret. */
  readonly excerpt?: string;
  /** The field, such as `resources[2].filter_chains[0].name`. */
  readonly path?: string;
  /** The other position of a duplicate. */
  readonly related?: { readonly file: string; readonly line?: number; readonly column?: number };
  /** Of `PROBLEMS_CUT`: how many problems it stands for. */
  readonly omitted?: { readonly errors: number; readonly warnings: number };
}

/** A problem of a field in a file without lines, or with unknown lines. */
export function unplacedProblem(
  file: string,
  {
    code,
    severity,
    path,
    message,
    hint,
  }: Pick<Problem, "code" | "severity" | "message" | "hint"> & { path: ValuePath },
): Problem {
  const field = formatPath(path);
  return { code, severity, file, ...(field === "" ? {} : { path: field }), message, ...optionalHint(hint) };
}

/** Returns the hint as an optional property. */
export function optionalHint(hint: string | undefined): { readonly hint?: string } {
  return hint === undefined ? {} : { hint };
}

/** Sorts by file, position and code, so that equal files give equal lists. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort(
    (a, b) =>
      compareText(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      compareText(a.path ?? "", b.path ?? "") ||
      compareText(a.code, b.code) ||
      compareText(a.message, b.message),
  );
}

/** Whether two lists are equal. Problems of an unchanged file are the same objects. */
export function sameProblems(a: readonly Problem[], b: readonly Problem[]): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((problem, index) => isSame(problem, b[index]));
}

function isSame(a: Problem, b: Problem | undefined): boolean {
  if (a === b) return true;
  return (
    a.code === b?.code &&
    a.severity === b.severity &&
    a.file === b.file &&
    a.line === b.line &&
    a.column === b.column &&
    a.excerpt === b.excerpt &&
    a.path === b.path &&
    a.message === b.message &&
    a.hint === b.hint &&
    a.related?.file === b.related?.file &&
    a.related?.line === b.related?.line &&
    a.related?.column === b.related?.column &&
    a.omitted?.errors === b.omitted?.errors &&
    a.omitted?.warnings === b.omitted?.warnings
  );
}

/** Whether any problem is an error, so that the load must not take effect. */
export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === "error");
}

/** Compares by UTF-16 code units, independent of the locale: -1, 0 or 1. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
