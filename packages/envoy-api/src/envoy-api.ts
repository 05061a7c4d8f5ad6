import type { DescMessage } from "@bufbuild/protobuf";
import {
  type Dependency,
  type DependencySource,
  formatTypeUrl,
  isOfV2,
  parseTypeUrl,
  type TypeKind,
  type TypeTraits,
  type TypeUrl,
} from "@xdskit/protocol";
import { catalog, traitsOf, typeCalled } from "./catalog/catalog.ts";
import { type CollectionEntry, collectionEntries } from "./catalog/collection-entry.ts";
import { configuredType } from "./catalog/extension-config.ts";
import { type InitialFetch, type ReadResult, ResourceReader } from "./catalog/resource-reader.ts";
import type { ResourceWrapper } from "./catalog/resource-wrapper.ts";
import { SoundResources } from "./catalog/sound-resources.ts";
import { type RewrittenSources, type SourceFile, SourceRewriter, type SourceUse } from "./catalog/source-rewriter.ts";
import { type Converted, Converter } from "./conversion/converter.ts";
import { createReflection, type DescriptorReflection } from "./descriptor/reflection.ts";
import { createSchema, type Schema } from "./descriptor/schema.ts";
import { type Content, decodeContent, encodeContent } from "./format/content.ts";
import { JsonReader } from "./format/json-reader.ts";
import { type FieldNames, JsonWriter } from "./format/json-writer.ts";
import { ProblemList } from "./format/problem-list.ts";
import { redact } from "./format/redact.ts";
import { formatText, parseText } from "./format/text-format.ts";
import { findUnprintable, type Unprintable } from "./format/unprintable.ts";
import { asciiText, encodeBase64 } from "./platform.ts";
import type { FieldProblem, TextProblem } from "./problem.ts";
import { Validator } from "./validation/validator.ts";
import { createResponseWriter, type ResponseFormat, type ResponseWriter } from "./wire/response-writer.ts";

/** A resource type of the catalog. */
export interface CatalogType {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  /** Such as `cds`; empty for the list collections, which have no API of their own. */
  readonly shortName: string;
  /** The same type in v2. */
  readonly v2Twin?: TypeUrl;
}

/** A JSON-like value that `readResource` takes, or problems. */
export interface TextResult {
  readonly value?: unknown;
  readonly problems: readonly TextProblem[];
}

/** The bytes of a message, or problems; fields that are not known are warnings. */
export interface MessageResult {
  readonly bytes?: Uint8Array;
  readonly problems: readonly FieldProblem[];
}

/** What the operator may add. */
export interface EnvoyApiOptions {
  /**
   * Encoded `FileDescriptorSet`s: newer or private messages. A file replaces the built-in one of the same name. In a browser nothing is built
   * in: there these are all messages, for example those of `@xdskit/envoy-api/descriptors.binpb.br`, unpacked.
   */
  readonly descriptors?: readonly Uint8Array[];
}

/** How a resource is printed. */
export interface PrintOptions {
  /** Replaces private keys, passwords and tokens by "[redacted]". */
  readonly redact?: boolean;
  /** `connectTimeout` ("json", the default: canonical) or `connect_timeout` ("proto": as Envoy's documentation has it). */
  readonly names?: FieldNames;
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
  /**
   * The name that stands in an encoded resource, if it is sound: `readEncodedResource` has no error for it, nor `validate` a warning, unless
   * `hasRules` is false. "" if it holds no name. Undefined: nothing is known, and those two say what is the matter, if anything is. This takes a
   * fraction of the time of those two, as nothing is decoded, and of what is good nearly all is found sound.
   */
  soundName(type: TypeUrl, bytes: Uint8Array, hasRules?: boolean): string | undefined;
  /** A JSON value as an encoded message of that name, or every problem in it; what a resource is made of has `readResource`. */
  readMessage(messageName: string, value: unknown): MessageResult;
  /** Reads the text format of a message, as a value with `@type` that `readResource` takes. */
  readText(messageName: string, text: string): TextResult;
  /**
   * Canonical JSON with `@type`. An `Any` of an unknown type becomes `{"@type", "value": base64}`.
   * Throws `MalformedMessageError` on bytes that are no such message.
   */
  toJson(type: TypeUrl, bytes: Uint8Array, options?: PrintOptions): unknown;
  /**
   * Whether there is anything in a message that `redact` would replace. Of what cannot be read nobody knows: then there may be.
   */
  holdsSecret(type: TypeUrl, bytes: Uint8Array): boolean;
  /**
   * The encoded message with every secret replaced as `redact` does; undefined where that cannot be known, because the type is
   * not known or the bytes are no such message.
   */
  redacted(type: TypeUrl, bytes: Uint8Array): Uint8Array | undefined;
  /** The text format. Throws `MalformedMessageError` on bytes that are no such message, or if the type is not known. */
  toText(type: TypeUrl, bytes: Uint8Array, options?: PrintOptions): string;
  /**
   * What breaks a validation rule of the descriptors (PGV), as warnings (S-VAL-03); nothing for a type that is not known.
   * Paths are in proto names; `resolveJsonPath` finds them in the value that was read.
   */
  validate(type: TypeUrl, bytes: Uint8Array): readonly FieldProblem[];
  /** What a client that was given this resource fetches over xDS before it uses it, and for how long it waits for that. */
  initialFetches(type: TypeUrl, bytes: Uint8Array): readonly InitialFetch[];
  /**
   * What a client that was given this resource fetches: everything that has a source of its own, and the clusters that are
   * named. Nothing for a type that is not known, and for bytes that cannot be read.
   */
  dependencies(type: TypeUrl, bytes: Uint8Array): readonly Dependency[];
  /** Whom a Cluster has its load reported to; undefined: nobody (C-LRS-01). */
  loadServer(type: TypeUrl, bytes: Uint8Array): DependencySource | undefined;
  /**
   * What an extension config that came by ECDS configures, for `ExtensionTerms.types` (C-ECD-04): the type of what it holds, or the one
   * that a `TypedStruct` in it stands for. Undefined if it holds nothing.
   */
  configuredType(type: TypeUrl, bytes: Uint8Array): TypeUrl | undefined;
  /**
   * What is in a list collection, in its order (B-XTP-07). Undefined for any other type, one that is not known, and bytes that are no such message.
   */
  collectionEntries(type: TypeUrl, bytes: Uint8Array): readonly CollectionEntry[] | undefined;
  /** Makes the content of files that hold a `DiscoveryResponse` each, as Envoy reads them (S-FS-15). */
  responseWriter(format: ResponseFormat): ResponseWriter;
  /** What a message loses when it is printed as JSON, YAML or text. Throws `MalformedMessageError` on bytes that are no such message. */
  unprintable(type: TypeUrl, bytes: Uint8Array): Unprintable;
  /**
   * Points the config sources in a message, and in every `Any` in it, at files; those for which `locate` names none stay as they
   * are. A type without a descriptor is left alone. Throws `MalformedMessageError` on bytes that are no such message.
   */
  rewriteSources(
    type: TypeUrl,
    bytes: Uint8Array,
    locate: (use: SourceUse) => SourceFile | undefined,
  ): RewrittenSources;
  /**
   * A message in the version of the API that it is not in, v2 or v3; undefined for a type without a twin. Names are exchanged, in
   * every nested `Any` too, and numbers agree; a bytes object in which nothing changes is its own result.
   */
  convert(type: TypeUrl, bytes: Uint8Array): Converted | undefined;
  readonly reflection: DescriptorReflection;
}

/** Bytes that are not a message of the type they were said to be. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
}

/**
 * Takes some 20 ms in a fresh process, and up to 40 ms more when a type is first used, whose descriptors are linked then; with added descriptors, which are all
 * linked at once, 0.2 s. Throws `DescriptorError` when the added ones cannot be used.
 */
export function createEnvoyApi(options: EnvoyApiOptions = {}): EnvoyApi {
  const schema = createSchema(options.descriptors);
  const converter = new Converter(schema);
  // Who is sent what is sound needs none of these, and each takes its time to make.
  const rewriter = once(() => new SourceRewriter(schema));
  const reader = once(() => new ResourceReader(schema, converter));
  const validator = new Validator(schema);
  const sound = new SoundResources(schema);
  return {
    traits: traitsOf,
    types: catalog.map(catalogType),
    typeNamed: (text) => typeCalled(text) ?? typeByMessage(text, schema),
    knows: (type) => schema.message(type) !== undefined,
    readResource: (value, wrapper = {}) => reader().readJson(value, wrapper),
    readEncodedResource: (type, bytes, wrapper = {}) => reader().readEncoded(type, bytes, wrapper),
    soundName: (type, bytes, hasRules = true) => sound.nameOf(type, bytes, hasRules),
    readMessage: (messageName, value) => readMessage(messageName, value, schema),
    readText: (messageName, text) => readText(messageName, text, schema),
    toJson: (type, bytes, printing = {}) => printJson(type, bytes, schema, printing),
    redacted: (type, bytes) => redactBytes(type, bytes, schema),
    holdsSecret: (type, bytes) => (isOfV2(type) || mayHoldSecret(bytes)) && holdsSecret(type, bytes, schema),
    toText: (type, bytes, printing = {}) => {
      const message = schema.message(type);
      if (message === undefined) throw new MalformedMessageError(`expected a type that is known, got ${type}`);
      return formatText(message, decodeForPrinting(message, bytes, schema, printing), schema);
    },
    validate: (type, bytes) => {
      const message = schema.message(type);
      return message === undefined ? [] : validator.validate(message, bytes, reader().takeDecoded(message, bytes));
    },
    initialFetches: (type, bytes) => reader().initialFetches(type, bytes),
    dependencies: (type, bytes) => reader().dependencies(type, bytes),
    loadServer: (type, bytes) => reader().loadServer(type, bytes),
    configuredType: (type, bytes) => configuredType(type, bytes, schema),
    collectionEntries: (type, bytes) => collectionEntries(type, bytes, schema),
    responseWriter: (format) =>
      createResponseWriter(format, schema, (type, bytes) => printJson(type, bytes, schema, {})),
    unprintable: (type, bytes) => {
      const message = schema.message(type);
      if (message === undefined) return { types: [type], unknownFieldsOf: [] };
      return findUnprintable(message, decodeForPrinting(message, bytes, schema, {}), schema);
    },
    rewriteSources: (type, bytes, locate) => {
      const message = schema.message(type);
      if (message === undefined) return { bytes, rewritten: [], kept: [] };
      return rewriter().rewrite(message, decodeForPrinting(message, bytes, schema, {}), bytes, locate);
    },
    convert: (type, bytes) => converter.convert(type, bytes),
    reflection: createReflection(schema),
  };
}

/** What is made when it is first asked for. */
function once<T>(make: () => T): () => T {
  let made: { readonly it: T } | undefined;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}

function catalogType({ type, kind, shortName, v2Twin }: (typeof catalog)[number]): CatalogType {
  return v2Twin === undefined ? { type, kind, shortName } : { type, kind, shortName, v2Twin };
}

/** A URL names a type even if nothing is known of it; another text only if there is a message of that name. */
function typeByMessage(text: string, schema: Schema): TypeUrl | undefined {
  return text.includes("/") || schema.message(text) !== undefined ? parseTypeUrl(text) : undefined;
}

function readMessage(messageName: string, value: unknown, schema: Schema): MessageResult {
  const problems = new ProblemList();
  const message = schema.message(messageName);
  if (message === undefined) {
    problems.error(
      "TYPE_UNKNOWN",
      `expected a message that is known, got ${JSON.stringify(messageName.slice(0, 200))}`,
    );
    return { problems: problems.problems };
  }
  const content = new JsonReader(schema, problems).readMessage(message, value);
  if (content === undefined || problems.hasErrors) return { problems: problems.problems };
  return { bytes: encodeContent(message, content), problems: problems.problems };
}

function readText(messageName: string, text: string, schema: Schema): TextResult {
  const message = schema.message(messageName);
  if (message === undefined) {
    const problem = `expected a message that is known, got ${JSON.stringify(messageName.slice(0, 200))}`;
    const place = { line: undefined, column: undefined };
    return { problems: [{ code: "TEXT_INVALID", severity: "error", ...place, message: problem }] };
  }
  const { content, problem } = parseText(message, text, schema);
  if (problem !== undefined) return { problems: [problem] };
  // The names of the proto file, so that what is said about the value later names what stands in the text.
  const value = new JsonWriter(schema, "proto").writeTyped(message, content, formatTypeUrl(message.typeName));
  return { value, problems: [] };
}

function printJson(type: TypeUrl, bytes: Uint8Array, schema: Schema, printing: PrintOptions): unknown {
  const message = schema.message(type);
  if (message === undefined) return { "@type": type, value: encodeBase64(bytes) };
  const content = decodeForPrinting(message, bytes, schema, printing);
  return new JsonWriter(schema, printing.names ?? "json").writeTyped(message, content, type);
}

/** In v3, secrets stand in extensions and in headers; most messages have neither, and need not be decoded to see that. */
function mayHoldSecret(bytes: Uint8Array): boolean {
  return MAY_HOLD_SECRET.test(asciiText(bytes));
}

const MAY_HOLD_SECRET = /type\.googleapis\.com\/|authorization|cookie|api-?key|token|secret|password|PRIVATE KEY/i;

function holdsSecret(type: TypeUrl, bytes: Uint8Array, schema: Schema): boolean {
  const message = schema.message(type);
  if (message === undefined) return true;
  try {
    return redact(message, decodeContent(message, bytes), schema);
  } catch {
    // Nobody can read it, so nobody knows.
    return true;
  }
}

function redactBytes(type: TypeUrl, bytes: Uint8Array, schema: Schema): Uint8Array | undefined {
  const message = schema.message(type);
  if (message === undefined) return undefined;
  try {
    const content = decodeContent(message, bytes);
    return redact(message, content, schema) ? encodeContent(message, content) : bytes;
  } catch {
    return undefined;
  }
}

function decodeForPrinting(message: DescMessage, bytes: Uint8Array, schema: Schema, printing: PrintOptions): Content {
  let content: Content;
  try {
    content = decodeContent(message, bytes);
  } catch (cause) {
    throw new MalformedMessageError(`expected the bytes of a ${message.typeName}`, { cause });
  }
  if (printing.redact === true) redact(message, content, schema);
  return content;
}
