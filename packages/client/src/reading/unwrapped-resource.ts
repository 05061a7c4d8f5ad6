import {
  type AnyMessage,
  decodeConstraints,
  decodeDeltaResponse,
  decodeResource,
  decodeSotwResponse,
  type ResourceErrorMessage,
  type ResourceMessage,
  type ResourceNameMessage,
  WireError,
} from "@xdskit/envoy-api/internal";
import { type Constraints, parseTypeUrl, type TypeUrl, type Variant } from "@xdskit/protocol";
import { canonicalName, constrainedName, type ReceivedError } from "@xdskit/protocol/internal";

/** A resource without its wrapper, not decoded yet. */
export interface UnwrappedResource {
  /** Undefined without a wrapper, or without a name in it. */
  readonly name: string | undefined;
  readonly constraints: Constraints | undefined;
  readonly aliases: readonly string[];
  readonly version: string;
  readonly ttlMs: number | undefined;
  /** Undefined: the wrapper has no body. */
  readonly any: AnyMessage | undefined;
  /** Whether it came in a wrapper; in delta always. */
  readonly isWrapped: boolean;
  /** Why the wrapper is malformed. */
  readonly problem?: string;
}

/** A response with resources that are not decoded yet. */
export interface UnwrappedResources {
  readonly kind: Variant;
  readonly type: TypeUrl | undefined;
  readonly nonce: string;
  /** The type version in SotW, the system version in delta. */
  readonly version: string;
  readonly controlPlane: string | undefined;
  readonly resources: readonly UnwrappedResource[];
  readonly removed: readonly string[];
  readonly errors: readonly ReceivedError[];
}

const WRAPPERS: ReadonlySet<TypeUrl> = new Set([
  "type.googleapis.com/envoy.service.discovery.v3.Resource",
  "type.googleapis.com/envoy.api.v2.Resource",
]);

/** Reads a response of a variant. Throws a `WireError` if the bytes are malformed. */
export function readParcels(bytes: Uint8Array, variant: Variant): UnwrappedResources {
  return variant === "sotw" ? readSotw(bytes) : readDelta(bytes);
}

function readSotw(bytes: Uint8Array): UnwrappedResources {
  const message = decodeSotwResponse(bytes);
  const isWrapper = wrapperTest();
  return {
    kind: "sotw",
    type: parseTypeUrl(message.typeUrl),
    nonce: message.nonce,
    version: message.versionInfo,
    controlPlane: message.controlPlane,
    resources: message.resources.map((any) => (isWrapper(any.typeUrl) ? unwrapped(any) : bareParcel(any))),
    removed: [],
    errors: message.resourceErrors.map(errorOf),
  };
}

function readDelta(bytes: Uint8Array): UnwrappedResources {
  const message = decodeDeltaResponse(bytes);
  return {
    kind: "delta",
    type: parseTypeUrl(message.typeUrl),
    nonce: message.nonce,
    version: message.systemVersionInfo,
    controlPlane: message.controlPlane,
    resources: message.resources.map(parcelOfResource),
    removed: [...message.removedResources.map(canonicalName), ...message.removedResourceNames.map(keyOf)],
    errors: message.resourceErrors.map(errorOf),
  };
}

/** Returns a test for wrapper types that remembers the last type, which most resources of a response share. */
function wrapperTest(): (typeUrl: string) => boolean {
  let last = "";
  let wasWrapper = false;
  return (typeUrl) => {
    if (typeUrl === last) return wasWrapper;
    const type = parseTypeUrl(typeUrl);
    last = typeUrl;
    wasWrapper = type !== undefined && WRAPPERS.has(type);
    return wasWrapper;
  };
}

/** Takes the wrapper off; every type may be wrapped, with or without a TTL (C-TTL-04, C-LOC-02). */
function unwrapped(any: AnyMessage): UnwrappedResource {
  try {
    return parcelOfResource(decodeResource(any.value));
  } catch (cause) {
    return { ...bareParcel(undefined), problem: `a wrapper that cannot be read: ${wireProblem(cause)}` };
  }
}

function bareParcel(any: AnyMessage | undefined): UnwrappedResource {
  return {
    name: undefined,
    constraints: undefined,
    aliases: noAliases,
    version: "",
    ttlMs: undefined,
    any,
    isWrapped: false,
  };
}

const noAliases: readonly string[] = [];

function parcelOfResource(message: ResourceMessage): UnwrappedResource {
  const { resourceName, aliases, version, ttlMs, resource } = message;
  const name = message.name || resourceName?.name || undefined;
  const parcel = {
    name: name === undefined ? undefined : canonicalName(name),
    constraints: undefined,
    aliases: aliases.length === 0 ? noAliases : aliases.map(canonicalName),
    version,
    ttlMs,
    any: resource,
    isWrapped: true,
  };
  const encoded = resourceName?.dynamicParameterConstraints;
  if (encoded === undefined) return parcel;
  try {
    return { ...parcel, constraints: decodeConstraints(encoded) };
  } catch (cause) {
    return { ...parcel, problem: `constraints that cannot be read: ${wireProblem(cause)}` };
  }
}

function errorOf({ resourceName, errorDetail: { code, message } }: ResourceErrorMessage): ReceivedError {
  return { name: keyOf(resourceName), error: { code, message } };
}

function keyOf({ name, dynamicParameterConstraints }: ResourceNameMessage): string {
  const canonical = canonicalName(name);
  if (dynamicParameterConstraints === undefined) return canonical;
  return constrainedName(canonical, decodeConstraints(dynamicParameterConstraints));
}

function wireProblem(cause: unknown): string {
  if (cause instanceof WireError) return cause.message;
  throw cause;
}
