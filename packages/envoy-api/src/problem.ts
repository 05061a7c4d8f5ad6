import type { BaseProblem, ValuePath } from "@xdskit/protocol";

/** Codes of errors that keep a resource out. */
type ReadingCode =
  | "BYTES_INVALID"
  | "DURATION_INVALID"
  | "ENUM_UNKNOWN"
  | "FIELD_DUPLICATE"
  | "FIELD_MASK_INVALID"
  | "FIELD_UNKNOWN"
  | "FIELD_WRONG_TYPE"
  | "MESSAGE_MALFORMED"
  | "NESTING_TOO_DEEP"
  | "NUMBER_INVALID"
  | "ONEOF_CONFLICT"
  | "RESOURCE_UNNAMED"
  /** A secret reads "[redacted]"; found where resources are taken from files or programs. */
  | "SECRET_REDACTED"
  | "STRING_INVALID"
  | "TIMESTAMP_INVALID"
  | "TYPE_MISSING"
  | "TYPE_UNKNOWN";

/** Codes of warnings from catalog entries. */
type CatalogCode =
  | "ANY_UNREAD"
  | "CLUSTER_EDS_CONFIG_MISSING"
  | "CLUSTER_EDS_CONFIG_UNUSED"
  | "CLUSTER_ENDPOINTS_MISSING"
  | "CLUSTER_ENDPOINTS_UNUSED"
  | "CLUSTER_LB_POLICY_MISMATCH"
  | "CLUSTER_LOGICAL_DNS_ENDPOINTS"
  | "CLUSTER_SERVICE_NAME_MISSING"
  | "ENDPOINT_ADDRESS_DUPLICATE"
  | "ENDPOINT_ADDRESS_MISSING"
  | "ENDPOINT_ADDRESS_NOT_IP"
  | "ENDPOINT_LOCALITY_DUPLICATE"
  | "ENDPOINT_LOCALITY_MISSING"
  | "ENDPOINT_PRIORITY_GAP"
  | "LISTENER_ADDRESS_MISSING"
  | "LISTENER_API_LISTENER_INVALID"
  | "LISTENER_FILTER_CHAINS_MISSING"
  | "LISTENER_FILTER_CHAIN_DUPLICATE"
  | "NAME_MISMATCH"
  /** A constraint names a parameter but neither a value nor that it exists. */
  | "CONSTRAINT_INCOMPLETE"
  /** A resource locator redirects something that cannot be redirected. */
  | "REDIRECT_INVALID"
  | "RESOURCE_NAME_UNUSUAL"
  | "ROUTE_DOMAIN_DUPLICATE"
  | "ROUTE_REGEX_INVALID"
  | "ROUTE_SCOPE_TARGET_INVALID"
  | "ROUTE_VIRTUAL_HOST_DUPLICATE"
  | "ROUTE_VIRTUAL_HOST_NAME_DIFFERS"
  | "ROUTE_VIRTUAL_HOST_UNPREFIXED"
  | "ROUTE_WEIGHTS_ZERO"
  | "SECRET_CERTIFICATE_INCOMPLETE"
  | "SECRET_EMPTY"
  | "SECRET_INLINE"
  | "TTL_SHORT";

/** Codes for what the other API version cannot express. */
type ConversionCode = "VERSION_LOSS";

/** Validation rules of Envoy's fields (PGV), by their names there. */
type PgvCode =
  | "PGV_ADDRESS"
  | "PGV_CONST"
  | "PGV_CONTAINS"
  | "PGV_DEFINED_ONLY"
  | "PGV_EMAIL"
  | "PGV_GT"
  | "PGV_GTE"
  | "PGV_HOSTNAME"
  | "PGV_IN"
  | "PGV_IP"
  | "PGV_IPV4"
  | "PGV_IPV6"
  | "PGV_LEN"
  | "PGV_LEN_BYTES"
  | "PGV_LT"
  | "PGV_LTE"
  | "PGV_MAX_BYTES"
  | "PGV_MAX_ITEMS"
  | "PGV_MAX_LEN"
  | "PGV_MAX_PAIRS"
  | "PGV_MIN_BYTES"
  | "PGV_MIN_ITEMS"
  | "PGV_MIN_LEN"
  | "PGV_MIN_PAIRS"
  | "PGV_NOT_CONTAINS"
  | "PGV_NOT_IN"
  | "PGV_PATTERN"
  | "PGV_PREFIX"
  | "PGV_REQUIRED"
  | "PGV_SUFFIX"
  | "PGV_UNIQUE"
  | "PGV_URI"
  | "PGV_URI_REF"
  | "PGV_UUID"
  | "PGV_WELL_KNOWN_REGEX";

/** Every code of a problem in a resource. Codes are stable; a retired one is not used again. */
export type FieldProblemCode = ReadingCode | CatalogCode | ConversionCode | PgvCode;

/** A problem in one place of a resource. */
export interface FieldProblem extends BaseProblem {
  readonly code: FieldProblemCode;
  /** In the given JSON value; proto names if there was none. */
  readonly path: ValuePath;
}

/** A problem in a message in the text format. */
export interface TextProblem extends BaseProblem {
  readonly code: "TEXT_INVALID";
  readonly severity: "error";
  /** Starts at 1; undefined if the parser did not report it. */
  readonly line: number | undefined;
  readonly column: number | undefined;
}
