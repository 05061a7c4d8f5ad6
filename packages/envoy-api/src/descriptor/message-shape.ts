import { type DescField, type DescMessage, getOption, type Registry } from "@bufbuild/protobuf";

/** How a message looks in JSON: an object of fields, or a special form of google.protobuf. */
export type Representation =
  | "fields"
  | "any"
  | "duration"
  | "timestamp"
  | "field-mask"
  | "struct"
  | "value"
  | "list-value"
  | "wrapper";

/** A message type, prepared for reading and printing. */
export interface MessageShape {
  readonly message: DescMessage;
  readonly representation: Representation;
  /** By proto name and by JSON name. */
  readonly fieldNamed: ReadonlyMap<string, DescField>;
  /** Sorted by number. */
  readonly fields: readonly DescField[];
  /** Fields whose values are never printed. */
  readonly sensitive: ReadonlySet<DescField>;
  /** Nothing in it is ever quoted. */
  readonly isSecret: boolean;
  /** A header, which may hold credentials. */
  readonly isHeader: boolean;
}

const REPRESENTATIONS: ReadonlyMap<string, Representation> = new Map([
  ["google.protobuf.Any", "any"],
  ["google.protobuf.Duration", "duration"],
  ["google.protobuf.Timestamp", "timestamp"],
  ["google.protobuf.FieldMask", "field-mask"],
  ["google.protobuf.Struct", "struct"],
  ["google.protobuf.Value", "value"],
  ["google.protobuf.ListValue", "list-value"],
  ["google.protobuf.DoubleValue", "wrapper"],
  ["google.protobuf.FloatValue", "wrapper"],
  ["google.protobuf.Int64Value", "wrapper"],
  ["google.protobuf.UInt64Value", "wrapper"],
  ["google.protobuf.Int32Value", "wrapper"],
  ["google.protobuf.UInt32Value", "wrapper"],
  ["google.protobuf.BoolValue", "wrapper"],
  ["google.protobuf.StringValue", "wrapper"],
  ["google.protobuf.BytesValue", "wrapper"],
]);

const HEADER = "envoy.config.core.v3.HeaderValue";
const SECRET = "envoy.extensions.transport_sockets.tls.v3.Secret";

export function representationOf(message: DescMessage): Representation {
  return REPRESENTATIONS.get(message.typeName) ?? "fields";
}

/** `inV3`: for a v2 message, the shape of its v3 twin, where secrets are marked. */
export function shapeOfMessage(message: DescMessage, registry: Registry, inV3?: MessageShape): MessageShape {
  const fieldNamed = new Map<string, DescField>();
  for (const field of message.fields) fieldNamed.set(field.jsonName, field);
  // Last, because a proto name that equals another field's JSON name takes precedence.
  for (const field of message.fields) fieldNamed.set(field.name, field);
  return {
    message,
    representation: representationOf(message),
    fieldNamed,
    fields: [...message.fields].sort((a, b) => a.number - b.number),
    sensitive: new Set(
      message.fields.filter((field) => isSensitive(field, registry) || (inV3 && isSensitiveInV3(field, inV3))),
    ),
    isSecret: message.typeName === SECRET || inV3?.isSecret === true,
    isHeader: message.typeName === HEADER || inV3?.isHeader === true,
  };
}

const SENSITIVE_OPTIONS = ["udpa.annotations.sensitive", "xds.annotations.v3.sensitive"];

// Secrets that Envoy's files do not mark.
const UNMARKED_SECRETS: ReadonlySet<string> = new Set([
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.access_token",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.google_refresh_token",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.GoogleIAMCredentials.authorization_token",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.ServiceAccountJWTAccessCredentials.json_key",
  "envoy.config.trace.v3.LightstepConfig.access_token",
  "envoy.extensions.common.aws.v3.InlineCredentialProvider.secret_access_key",
  "envoy.extensions.common.aws.v3.InlineCredentialProvider.session_token",
  "envoy.extensions.filters.http.api_key_auth.v3.Credential.key",
  "envoy.extensions.filters.http.aws_lambda.v3.Credentials.secret_access_key",
  "envoy.extensions.filters.http.aws_lambda.v3.Credentials.session_token",
]);

function isSensitive(field: DescField, registry: Registry): boolean {
  if (UNMARKED_SECRETS.has(`${field.parent.typeName}.${field.name}`)) return true;
  return SENSITIVE_OPTIONS.some((name) => {
    const option = registry.getExtension(name);
    return option !== undefined && getOption(field, option) === true;
  });
}

/**
 * A v2 field is sensitive if the v3 field of its number is. An untyped extension configuration of v2 may hold anything.
 */
function isSensitiveInV3({ number, message }: DescField, inV3: MessageShape): boolean {
  const field = inV3.fields.find((one) => one.number === number);
  return field === undefined ? message?.typeName === "google.protobuf.Struct" : inV3.sensitive.has(field);
}
