import type { ResourceInput, TypeKind, TypeTraits, TypeUrl } from "@xdskit/protocol";
import type { FieldProblem, TextProblem } from "./problem.ts";

/** A resource type of the catalog. */
export interface CatalogType {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  /** Such as `cds`; empty for the list collections, which have no API of their own. */
  readonly shortName: string;
  /** The same type in v2. */
  readonly v2Twin?: TypeUrl;
}

/** What stands around a resource rather than in it: the fields of `envoy.service.discovery.v3.Resource`. */
export interface ResourceWrapper {
  readonly name?: string;
  readonly aliases?: readonly string[];
  readonly ttlMs?: number;
  readonly doNotCache?: boolean;
  /** An encoded `envoy.config.core.v3.Metadata`. */
  readonly metadata?: Uint8Array;
}

/** What enters, with warnings only; or no resource, with at least one error among the problems. */
export type ReadResult =
  | { readonly input: ResourceInput; readonly problems: readonly FieldProblem[] }
  | { readonly input: undefined; readonly problems: readonly FieldProblem[] };

/** A JSON-like value that `readResource` takes, or problems. */
export interface TextResult {
  readonly value?: unknown;
  readonly problems: readonly TextProblem[];
}

/** File descriptors for gRPC server reflection, each an encoded `FileDescriptorProto`. */
export interface DescriptorReflection {
  /** The file that declares a symbol (message, enum, service, method, field, extension), and what it imports, in that order. */
  fileContaining(symbol: string): readonly Uint8Array[] | undefined;
  /** A file by its name, and what it imports. */
  fileByName(name: string): readonly Uint8Array[] | undefined;
  /** Full names of all services, sorted. */
  readonly services: readonly string[];
}

/** What the operator may add. */
export interface EnvoyApiOptions {
  /** Encoded `FileDescriptorSet`s: newer or private messages. A file replaces the built-in one of the same name. */
  readonly descriptors?: readonly Uint8Array[];
}

/** How a resource is printed. */
export interface PrintOptions {
  /** Replaces private keys, passwords and tokens by "[redacted]". */
  readonly redact?: boolean;
}

/** Everything known about Envoy's messages: the built-in descriptors, those added to them, and the catalog of resource types. */
export interface EnvoyApi {
  /** Undefined for a type that is not in the catalog. */
  traits(type: TypeUrl): TypeTraits | undefined;
  readonly types: readonly CatalogType[];
  /** Finds a type by `cds`, `Cluster`, its type URL or the full name of its message; undefined if nothing has that name. */
  typeNamed(text: string): TypeUrl | undefined;
  /** Whether there is a descriptor for it. */
  knows(type: TypeUrl): boolean;
  /**
   * A JSON value with `@type` becomes a resource, or every problem in it is told. An
   * `envoy.service.discovery.v3.Resource` around the resource is taken off.
   */
  readResource(value: unknown, wrapper?: ResourceWrapper): ReadResult;
  /**
   * An encoded message becomes a resource. Its bytes are kept as they are, unknown fields included (B-MSC-09). A type
   * without a descriptor needs a wrapper with a name.
   */
  readEncodedResource(type: TypeUrl, bytes: Uint8Array, wrapper?: ResourceWrapper): ReadResult;
  /** Reads the text format of a message, as a value with `@type` that `readResource` takes. */
  readText(messageName: string, text: string): TextResult;
  /**
   * Canonical JSON with `@type`. An `Any` of an unknown type becomes `{"@type", "value": base64}`.
   * Throws `MalformedMessageError` on bytes that are no such message.
   */
  toJson(type: TypeUrl, bytes: Uint8Array, options?: PrintOptions): unknown;
  /** The text format. Throws `MalformedMessageError` on bytes that are no such message, or if the type is not known. */
  toText(type: TypeUrl, bytes: Uint8Array, options?: PrintOptions): string;
  /** What breaks a validation rule of the descriptors (PGV), as warnings (S-VAL-03); nothing for a type that is not known. */
  validate(type: TypeUrl, bytes: Uint8Array): readonly FieldProblem[];
  readonly reflection: DescriptorReflection;
}

/** Bytes that are not a message of the type they were said to be. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
}

/** Takes about 0.1 s: the built-in descriptors are read. Throws `DescriptorError` when the added ones cannot be used. */
export function createEnvoyApi(_options: EnvoyApiOptions = {}): EnvoyApi {
  throw new Error("not built yet");
}
