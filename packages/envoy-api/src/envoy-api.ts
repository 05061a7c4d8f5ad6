import type { DescMessage } from "@bufbuild/protobuf";
import { formatTypeUrl, parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { Dependency, DependencySource, TypeKind, TypeTraits } from "@xdskit/protocol/internal";
import { traitsOf, typeCalled } from "./catalog/catalog.ts";
import { type CollectionEntry, collectionEntries } from "./catalog/collection-entry.ts";
import { catalog } from "./catalog/entries.ts";
import { configuredType } from "./catalog/extension-config.ts";
import { spellProblem } from "./catalog/json-path.ts";
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
import { findRedacted, redact } from "./format/redact.ts";
import { REDACTED } from "./format/redact-json.ts";
import { formatText, parseText } from "./format/text-format.ts";
import { findUnprintable, type Unprintable } from "./format/unprintable.ts";
import { asciiText, encodeBase64 } from "./platform.ts";
import type { FieldProblem, TextProblem } from "./problem.ts";
import { SecretPlaces } from "./soundness/secret-places.ts";
import { Validator } from "./validation/validator.ts";
import { createResponseWriter, type ResponseFormat, type ResponseWriter } from "./wire/response-writer.ts";

/** A resource type of the catalog. */
export interface CatalogType {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  /** Such as `cds`; empty for list collections, which have no discovery service. */
  readonly shortName: string;
  /** The same type in v2. */
  readonly v2Twin?: TypeUrl;
}

/** A JSON-like value for `readResource`, or problems. */
export interface TextResult {
  readonly value?: unknown;
  readonly problems: readonly TextProblem[];
}

/** An encoded message, or problems; unknown fields are warnings. */
export interface MessageResult {
  readonly bytes?: Uint8Array;
  readonly problems: readonly FieldProblem[];
}

/** Options of `createEnvoyApi`. */
export interface EnvoyApiOptions {
  /**
   * Encoded `FileDescriptorSet`s with newer or private messages. A file replaces the built-in one of the same name. In
   * a browser nothing is built in, so these must hold all messages, for example the unpacked
   * `@xdskit/envoy-api/descriptors.binpb.br`.
   */
  readonly descriptors?: readonly Uint8Array[];
}

/** How a resource is printed. */
export interface PrintOptions {
  /**
   * Replaces private keys, passwords and tokens by "[redacted]".
   *
   * @default false
   */
  readonly redact?: boolean;
  /**
   * `json` for canonical JSON names (`connectTimeout`), `proto` for those of Envoy's documentation (`connect_timeout`).
   *
   * @default "json"
   */
  readonly names?: FieldNames;
}

/** Envoy's API: the built-in message descriptors, added ones, and the catalog of resource types. */
export interface EnvoyApi {
  /** Returns the traits of a type; undefined for a type that is not in the catalog. */
  traits(type: TypeUrl): TypeTraits | undefined;
  readonly types: readonly CatalogType[];
  /**
   * Finds a type by short name (`cds`), message name (`Cluster`), full message name or type URL; undefined if there is
   * none.
   */
  typeNamed(text: string): TypeUrl | undefined;
  /** Whether there is a descriptor for the type. */
  knows(type: TypeUrl): boolean;
  /**
   * Reads a JSON value with `@type` as a resource, or reports every problem in it. An
   * `envoy.service.discovery.v3.Resource` around the resource is unwrapped.
   */
  readResource(value: unknown, wrapper?: ResourceWrapper): ReadResult;
  /**
   * Reads an encoded message as a resource. Keeps its bytes as they are, unknown fields included (B-MSC-09). A type
   * without a descriptor needs a wrapper with a name.
   */
  readEncodedResource(type: TypeUrl, bytes: Uint8Array, wrapper?: ResourceWrapper): ReadResult;
  /**
   * Returns the name in an encoded resource if the resource is sound: `readEncodedResource` would report no error, and
   * `validate` no warning unless `hasRules` is false. "" if it holds no name. Undefined if soundness is not known; then
   * call those two. Takes a fraction of their time, because nothing is decoded, and recognises nearly all valid
   * resources.
   */
  soundName(type: TypeUrl, bytes: Uint8Array, hasRules?: boolean): string | undefined;
  /**
   * Encodes a JSON value as a message of that name, or reports every problem in it. Use `readResource` for resources.
   */
  readMessage(messageName: string, value: unknown): MessageResult;
  /** Parses the text format of a message into a value with `@type` for `readResource`. */
  readText(messageName: string, text: string): TextResult;
  /**
   * Returns canonical JSON with `@type`. An `Any` of an unknown type becomes `{"@type", "value": base64}`.
   *
   * @throws {MalformedMessageError} if the bytes are not such a message
   */
  toJson(type: TypeUrl, bytes: Uint8Array, options?: PrintOptions): unknown;
  /** Whether `redact` would replace anything in a message. True of an unknown type, and of what cannot be decoded if it may hold any. */
  holdsSecret(type: TypeUrl, bytes: Uint8Array): boolean;
  /**
   * Returns the encoded message with every secret replaced, as `redact` does; undefined if the type is unknown or the
   * bytes cannot be decoded.
   */
  redacted(type: TypeUrl, bytes: Uint8Array): Uint8Array | undefined;
  /**
   * Reports a secret that reads "[redacted]" instead of its value, as printed by `redact`; none for an unknown type. Paths
   * use proto names, as those of `validate`.
   */
  checkRedacted(type: TypeUrl, bytes: Uint8Array): readonly FieldProblem[];
  /**
   * Returns the text format.
   *
   * @throws {MalformedMessageError} if the type is unknown or the bytes are not such a message
   */
  toText(type: TypeUrl, bytes: Uint8Array, options?: PrintOptions): string;
  /**
   * Reports violations of the validation rules in the descriptors (PGV) as warnings (S-VAL-03); none for an unknown
   * type. Fields are spelled as in `like`, the JSON that the bytes were read from; with proto names without it.
   */
  validate(type: TypeUrl, bytes: Uint8Array, like?: unknown): readonly FieldProblem[];
  /**
   * Returns the initial fetches of a resource: what a client fetches over xDS before it uses it, and the fetch
   * timeouts.
   */
  initialFetches(type: TypeUrl, bytes: Uint8Array): readonly InitialFetch[];
  /**
   * Returns the dependencies of a resource: everything with a config source, and the clusters it names. Empty for an
   * unknown type or bytes that cannot be decoded.
   */
  dependencies(type: TypeUrl, bytes: Uint8Array): readonly Dependency[];
  /** Returns the load reporting server of a Cluster; undefined if there is none (C-LRS-01). */
  loadServer(type: TypeUrl, bytes: Uint8Array): DependencySource | undefined;
  /**
   * Returns the type that an ECDS extension config configures, for `ExtensionTerms.types` (C-ECD-04): the type in it,
   * or the one that a `TypedStruct` in it stands for. Undefined if it is empty.
   */
  configuredType(type: TypeUrl, bytes: Uint8Array): TypeUrl | undefined;
  /**
   * Returns the entries of a list collection, in order (B-XTP-07). Undefined for any other or unknown type, and for
   * bytes that cannot be decoded.
   */
  collectionEntries(type: TypeUrl, bytes: Uint8Array): readonly CollectionEntry[] | undefined;
  /** Creates a writer for files that hold one `DiscoveryResponse` each, as Envoy reads them (S-FS-15). */
  responseWriter(format: ResponseFormat): ResponseWriter;
  /**
   * Returns what a message loses when printed as JSON, YAML or text.
   *
   * @throws {MalformedMessageError} if the bytes are not such a message
   */
  unprintable(type: TypeUrl, bytes: Uint8Array): Unprintable;
  /**
   * Replaces the config sources in a message, and in every `Any` in it, by files; those for which `locate` returns
   * undefined stay as they are. A type without a descriptor stays as it is.
   *
   * @throws {MalformedMessageError} if the bytes are not such a message
   */
  rewriteSources(
    type: TypeUrl,
    bytes: Uint8Array,
    locate: (use: SourceUse) => SourceFile | undefined,
  ): RewrittenSources;
  /**
   * Converts a message to the other API version, v2 or v3; undefined for a type without a twin. Changes type names, in
   * every nested `Any` too; field numbers agree. Returns the same bytes object if nothing changes. Findings are spelled as
   * those of `validate`.
   */
  convert(type: TypeUrl, bytes: Uint8Array, like?: unknown): Converted | undefined;
  /**
   * Reads and compiles, some with each step, what the first conversion of a type needs, which otherwise takes that one some
   * 30 ms longer.
   */
  prepareConversion(type: TypeUrl): Iterable<unknown>;
  readonly reflection: DescriptorReflection;
}

/** Thrown for bytes that are not a message of the given type. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
}

/**
 * Creates the API. Takes about 20 ms in a fresh process, and up to 40 ms more when a type is first used, because its
 * descriptors are linked then. With added descriptors, all are linked at once, in 0.2 s.
 *
 * @throws {DescriptorError} if the added descriptors cannot be used
 */
export function createEnvoyApi(options: EnvoyApiOptions = {}): EnvoyApi {
  const schema = createSchema(options.descriptors);
  const converter = new Converter(schema);
  // Created on first use: sound resources need none of these, and each takes time to make.
  const rewriter = once(() => new SourceRewriter(schema));
  const reader = once(() => new ResourceReader(schema, converter));
  const validator = new Validator(schema);
  const sound = new SoundResources(schema);
  const secretPlaces = new SecretPlaces(schema);
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
    checkRedacted: (type, bytes) => checkRedacted(type, bytes, schema),
    holdsSecret: (type, bytes) => holdsSecret(type, bytes, schema, secretPlaces),
    toText: (type, bytes, printing = {}) => {
      const message = schema.message(type);
      if (message === undefined) throw new MalformedMessageError(`expected a type that is known, got ${type}`);
      return formatText(message, decodeForPrinting(message, bytes, schema, printing), schema);
    },
    validate: (type, bytes, like) => {
      const message = schema.message(type);
      if (message === undefined) return [];
      const problems = validator.validate(message, bytes, reader().takeDecoded(message, bytes));
      return problems.map((problem) => spellProblem(problem, like));
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
    convert: (type, bytes, like) => {
      const converted = converter.convert(type, bytes);
      return converted && { ...converted, findings: converted.findings.map((finding) => spellProblem(finding, like)) };
    },
    prepareConversion: (type) => converter.prepare(type),
    reflection: createReflection(schema),
  };
}

/** Returns a getter that makes the value on the first call. */
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

/** A URL names a type even without a descriptor; another text only if there is such a message. */
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
  // Proto names, so that later problems name what is in the text.
  const value = new JsonWriter(schema, "proto").writeTyped(message, content, formatTypeUrl(message.typeName));
  return { value, problems: [] };
}

function printJson(type: TypeUrl, bytes: Uint8Array, schema: Schema, printing: PrintOptions): unknown {
  const message = schema.message(type);
  if (message === undefined) return { "@type": type, value: encodeBase64(bytes) };
  const content = decodeForPrinting(message, bytes, schema, printing);
  return new JsonWriter(schema, printing.names ?? "json").writeTyped(message, content, type);
}

/** What text or keys show to be a secret has one of these in it, however it is encoded. */
const WORDS_OF_SECRETS =
  /authorization|cookie|(?:api|access|private|hmac|json|ticket|signing|encryption)[_-]?key|credential|token|secret|passw|passphrase|PRIVATE KEY/i;

function holdsSecret(type: TypeUrl, bytes: Uint8Array, schema: Schema, places: SecretPlaces): boolean {
  const message = schema.message(type);
  if (message === undefined) return true;
  // Most messages need no decoding to tell.
  if (!WORDS_OF_SECRETS.test(asciiText(bytes)) && !places.areUsed(message, bytes)) return false;
  try {
    return redact(message, decodeContent(message, bytes), schema);
  } catch {
    // An unreadable message may hold a secret.
    return true;
  }
}

function checkRedacted(type: TypeUrl, bytes: Uint8Array, schema: Schema): readonly FieldProblem[] {
  const message = asciiText(bytes).includes(REDACTED) ? schema.message(type) : undefined;
  if (message === undefined) return [];
  const path = findRedacted(message, decodeForPrinting(message, bytes, schema, {}), schema);
  if (path === undefined) return [];
  const says = `expected a secret, got "${REDACTED}", which stands for one where it must not be shown`;
  return [{ code: "SECRET_REDACTED", severity: "error", path, message: says, hint: "put the secret in its place" }];
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
