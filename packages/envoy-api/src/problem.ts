/**
 * Every code a problem in a resource may have. Codes are stable; a retired one is not used again.
 *
 * Those that begin with `PGV_` come from the validation rules of the descriptors, those after them from the catalog.
 */
export type FieldProblemCode =
  | "ANY_UNREAD"
  | "BYTES_INVALID"
  | "DURATION_INVALID"
  | "ENUM_UNKNOWN"
  | "FIELD_DUPLICATE"
  | "FIELD_MASK_INVALID"
  | "FIELD_UNKNOWN"
  | "FIELD_WRONG_TYPE"
  | "MESSAGE_MALFORMED"
  | "NAME_MISMATCH"
  | "NESTING_TOO_DEEP"
  | "NUMBER_INVALID"
  | "ONEOF_CONFLICT"
  | "RESOURCE_UNNAMED"
  | "STRING_INVALID"
  | "TIMESTAMP_INVALID"
  | "TYPE_MISSING"
  | "TYPE_UNKNOWN"
  | `PGV_${string}`
  | `CLUSTER_${string}`
  | `ENDPOINT_${string}`
  | `LISTENER_${string}`
  | `ROUTE_${string}`
  | `SECRET_${string}`;

/** Something wrong with one place in a resource. */
export interface FieldProblem {
  readonly code: FieldProblemCode;
  readonly severity: "error" | "warning";
  /** Keys and indices as they stand in the given JSON value; the names of the proto file where there was none. */
  readonly path: readonly (string | number)[];
  /** "expected X, got Y", without a full stop; never holds a secret. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** Something wrong with a message in the text format. */
export interface TextProblem {
  readonly code: "TEXT_INVALID";
  readonly severity: "error";
  /** From 1; undefined where the reader did not say. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly message: string;
  readonly hint?: string;
}
