import type { DescMessage, Message } from "@bufbuild/protobuf";
import { parseTypeUrl, type Reference, type ResourceInput, type TypeUrl } from "@xdskit/protocol";
import { type Dependency, type DependencySource, isOfV2 } from "@xdskit/protocol/internal";
import type { Converter } from "../conversion/converter.ts";
import type { Schema } from "../descriptor/schema.ts";
import { PlainEncoder } from "../encoding/plain-encoder.ts";
import {
  type AnyContent,
  type Content,
  type Decoded,
  decodeAny,
  decodeOrReport,
  encodeContent,
} from "../format/content.ts";
import { JsonReader } from "../format/json-reader.ts";
import { ProblemList } from "../format/problem-list.ts";
import type { FieldProblem } from "../problem.ts";
import { apiListenerCheck } from "./api-listener.ts";
import { entryOf, entryOfTwin } from "./catalog.ts";
import { type AskedReference, fetchTimeoutMs } from "./config-source.ts";
import { DependencyReader } from "./dependency-reader.ts";
import { catalog } from "./entries.ts";
import type { CatalogEntry, NestedCheck } from "./entry.ts";
import { resolveJsonPath, spellFields } from "./json-path.ts";
import { MessageVisits } from "./message-visits.ts";
import { redirectedType, redirectType } from "./redirect.ts";
import { referenceReaders } from "./reference-reader.ts";
import { checkTtl, isWrapperType, type ResourceWrapper, unwrapResource } from "./resource-wrapper.ts";
import { tlsContextChecks } from "./tls-context.ts";

/** A resource, with warnings only; or no resource, with at least one error. */
export type ReadResult =
  | { readonly input: ResourceInput; readonly problems: readonly FieldProblem[] }
  | { readonly input: undefined; readonly problems: readonly FieldProblem[] };

/** A resource that a client fetches before it uses the one that refers to it. */
export interface InitialFetch extends Reference {
  /** The fetch timeout in milliseconds; 0: none. */
  readonly timeoutMs: number;
}

/** A resource being read. */
interface Arrival {
  readonly type: TypeUrl;
  readonly bytes: Uint8Array;
  /** Undefined if the type is unknown and the resource is passed on undecoded. */
  readonly decoded: Decoded | undefined;
  readonly wrapper: ResourceWrapper;
  /** The JSON value that it comes from, and the resource's path in it. */
  readonly json: unknown;
  readonly path: readonly (string | number)[];
}

type Path = readonly (string | number)[];

/** Reads resources from JSON values and encoded messages: name, references, and every problem. */
export class ResourceReader {
  readonly #schema: Schema;
  readonly #converter: Converter;
  readonly #encoder: PlainEncoder;
  readonly #visits: MessageVisits<AskedReference>;
  readonly #dependencies: DependencyReader;
  readonly #any: DescMessage;
  readonly #wrapper: DescMessage;
  readonly #metadata: DescMessage;
  #last: { readonly bytes: Uint8Array; readonly decoded: Decoded } | undefined;

  constructor(schema: Schema, converter: Converter) {
    this.#schema = schema;
    this.#converter = converter;
    this.#encoder = new PlainEncoder(schema);
    this.#visits = new MessageVisits(schema, referenceReaders(schema, catalog), [
      ...catalog,
      ...tlsContextChecks,
      apiListenerCheck,
    ]);
    this.#dependencies = new DependencyReader(schema);
    this.#any = requireMessage(schema, "google.protobuf.Any");
    this.#wrapper = requireMessage(schema, "envoy.service.discovery.v3.Resource");
    this.#metadata = requireMessage(schema, "envoy.config.core.v3.Metadata");
  }

  readJson(value: unknown, wrapper: ResourceWrapper): ReadResult {
    const problems = new ProblemList();
    checkTtl(wrapper, problems);
    if (isTypedAsWrapper(value)) return this.#readWrapped(value, wrapper, problems);
    const encoded = problems.hasErrors ? undefined : this.#encoder.encode(value);
    if (encoded !== undefined) {
      const { type, bytes, decoded } = encoded;
      return this.#finish({ type, bytes, decoded, wrapper, json: value, path: [] }, problems);
    }
    const any = this.#readAny(value, problems);
    return any === undefined ? refused(problems) : this.#finishAny(any, { wrapper, json: value, path: [] }, problems);
  }

  readEncoded(type: TypeUrl, bytes: Uint8Array, wrapper: ResourceWrapper): ReadResult {
    const problems = new ProblemList();
    checkTtl(wrapper, problems);
    if (isWrapperType(type)) {
      const content = decodeOrReport(this.#wrapper, bytes, problems);
      return content === undefined ? refused(problems) : this.#finishWrapped(content, wrapper, undefined, problems);
    }
    return this.#finishEncoded(type, bytes, { wrapper, json: undefined, path: [] }, problems);
  }

  #readAny(value: unknown, problems: ProblemList): AnyContent | undefined {
    const any = new JsonReader(this.#schema, problems).readMessage(this.#any, value) as AnyContent | undefined;
    if (any === undefined || any.typeUrl !== "") return any;
    problems.error(
      "TYPE_MISSING",
      "expected @type, got none",
      'name the type, such as "@type": "type.googleapis.com/…"',
    );
    return undefined;
  }

  #readWrapped(value: object, outer: ResourceWrapper, problems: ProblemList): ReadResult {
    const content = new JsonReader(this.#schema, problems).readTyped(this.#wrapper, value);
    if (content === undefined || problems.hasErrors) return refused(problems);
    return this.#finishWrapped(content, outer, value, problems);
  }

  #finishWrapped(content: Message, outer: ResourceWrapper, json: unknown, problems: ProblemList): ReadResult {
    const { any, wrapper } = unwrapResource(content, problems, {
      json,
      encodeMetadata: (metadata) => encodeContent(this.#metadata, metadata),
    });
    if (any === undefined || any.typeUrl === "") {
      problems.path.push("resource");
      problems.error("TYPE_MISSING", "expected a resource in the wrapper, got none");
      problems.path.pop();
      return refused(problems);
    }
    return this.#finishAny(any, { wrapper: { ...outer, ...wrapper }, json, path: ["resource"] }, problems);
  }

  #finishAny(any: AnyContent, origin: Pick<Arrival, "wrapper" | "json" | "path">, problems: ProblemList): ReadResult {
    const type = parseTypeUrl(any.typeUrl);
    if (type === undefined) return refused(problems);
    const decoded = decodeAny(any, this.#schema);
    if (problems.hasErrors) {
      // Even if other fields are wrong, a missing name is a problem to report.
      if (decoded !== undefined && entryOfTwin(type) === undefined)
        nameOf({ type, bytes: any.value, decoded, ...origin }, entryOf(type), problems);
      return refused(problems);
    }
    if (decoded === undefined) return this.#finishEncoded(type, any.value, origin, problems);
    return this.#finish({ type, bytes: any.value, decoded, ...origin }, problems);
  }

  #finishEncoded(
    type: TypeUrl,
    bytes: Uint8Array,
    origin: Pick<Arrival, "wrapper" | "json" | "path">,
    problems: ProblemList,
  ): ReadResult {
    const message = this.#schema.message(type);
    const content = message && decodeOrReport(message, bytes, problems);
    if (message !== undefined && content === undefined) return refused(problems);
    const decoded = message && content && { message, content };
    // A copy, because the bytes may be part of a large file, which a resource must not keep in memory.
    const copy = new Uint8Array(bytes);
    this.#last = decoded && { bytes: copy, decoded };
    return this.#finish({ type, bytes: copy, decoded, ...origin }, problems);
  }

  /** Returns the decoded content of the last resource read, once, so that it need not be decoded again. */
  takeDecoded(message: DescMessage, bytes: Uint8Array): Content | undefined {
    const last = this.#last;
    this.#last = undefined;
    return last?.bytes === bytes && last.decoded.message === message ? last.decoded.content : undefined;
  }

  #finish(arrival: Arrival, problems: ProblemList): ReadResult {
    const twinEntry = entryOfTwin(arrival.type);
    if (twinEntry !== undefined) return this.#finishTwin(arrival, twinEntry, problems);
    if (arrival.type === redirectType) return finishRedirect(arrival, problems);
    const entry = entryOf(arrival.type);
    const name = nameOf(arrival, entry, problems);
    if (name === undefined || problems.hasErrors) return refused(problems);
    const references = this.#walk(arrival, entry, name, problems);
    return { input: this.#inputOf(arrival, entry, { name, references }), problems: problems.problems };
  }

  /** The catalog describes v3 only, so a v2 resource is checked in its v3 form but keeps its v2 bytes. */
  #finishTwin(arrival: Arrival, entry: CatalogEntry, problems: ProblemList): ReadResult {
    const seen = { ...arrival, decoded: this.#decodeInV3(arrival.type, arrival.bytes) ?? arrival.decoded };
    const name = nameOf(seen, entry, problems);
    if (name === undefined || problems.hasErrors) return refused(problems);
    const references = this.#walk(seen, undefined, name, problems).map((to) => ({
      type: entryOf(to.type)?.v2Twin ?? to.type,
      name: to.name,
    }));
    return { input: this.#inputOf(seen, entry, { name, references }), problems: problems.problems };
  }

  #decodeInV3(type: TypeUrl, bytes: Uint8Array): Decoded | undefined {
    const converted = this.#converter.convert(type, bytes);
    const message = converted && this.#schema.message(converted.type);
    if (converted?.bytes === undefined || message === undefined) return undefined;
    const content = decodeOrReport(message, converted.bytes, new ProblemList());
    return content && { message, content };
  }

  #inputOf(
    arrival: Arrival,
    entry: CatalogEntry | undefined,
    { name, references }: Required<Pick<ResourceInput, "name" | "references">>,
  ): ResourceInput {
    const { decoded, wrapper } = arrival;
    const derived = (decoded && entry?.aliasesIn?.(decoded.content, name)) ?? nothing;
    const aliases = aliasesOf(name, wrapper.aliases ?? nothing, derived);
    // Reuses the catalog's string, so that 100,000 resources do not hold one each.
    const type =
      entry?.type === arrival.type ? entry.type : entry?.v2Twin === arrival.type ? entry.v2Twin : arrival.type;
    return resourceInput(type, arrival, { name, aliases, references });
  }

  /** Returns what a client fetches before it uses the resource, with the timeouts. */
  initialFetches(type: TypeUrl, bytes: Uint8Array): readonly InitialFetch[] {
    const decoded = isOfV2(type) ? this.#decodeInV3(type, bytes) : this.#decode(type, bytes);
    if (decoded === undefined) return [];
    const references: AskedReference[] = [];
    this.#visits.visit(decoded.message, decoded.content, { findings: references, onChecked: () => {} });
    return references.flatMap(({ type: wanted, name, source }) =>
      source === undefined ? [] : [{ type: wanted, name, timeoutMs: fetchTimeoutMs(source) }],
    );
  }

  /** Returns the dependencies of a resource. */
  dependencies(type: TypeUrl, bytes: Uint8Array): readonly Dependency[] {
    const decoded = isOfV2(type) ? this.#decodeInV3(type, bytes) : this.#decode(type, bytes);
    if (decoded === undefined) return [];
    const found = this.#dependencies.read(decoded);
    return isOfV2(type) ? found.map((one) => ({ ...one, type: entryOf(one.type)?.v2Twin ?? one.type })) : found;
  }

  /** Returns the load reporting server of a Cluster. */
  loadServer(type: TypeUrl, bytes: Uint8Array): DependencySource | undefined {
    const decoded = isOfV2(type) ? this.#decodeInV3(type, bytes) : this.#decode(type, bytes);
    return decoded && this.#dependencies.loadServer(decoded);
  }

  #decode(type: TypeUrl, bytes: Uint8Array): Decoded | undefined {
    const message = this.#schema.message(type);
    const content = message && decodeOrReport(message, bytes, new ProblemList());
    return message && content && { message, content };
  }

  #walk(arrival: Arrival, entry: CatalogEntry | undefined, name: string, problems: ProblemList): readonly Reference[] {
    const { decoded } = arrival;
    if (decoded === undefined) return [];
    const check = (checking: NestedCheck, content: Message, at: Path): void => {
      checking.check?.(content, (...finding) => report(arrival, at, finding, problems), name, at);
    };
    const references: AskedReference[] = [];
    if (entry?.checksNested === false) check(entry, decoded.content, []);
    this.#visits.visit(decoded.message, decoded.content, { findings: references, onChecked: check });
    return distinct(references);
  }
}

/** Reads a resource locator; the name gives the type of the redirected resource. */
function finishRedirect(arrival: Arrival, problems: ProblemList): ReadResult {
  const { bytes, wrapper, type: bodyType } = arrival;
  const type = redirectedType(wrapper.name, problems);
  if (type === undefined || wrapper.name === undefined) return refused(problems);
  const input = resourceInput(type, arrival, { name: wrapper.name, aliases: nothing, references: nothing });
  return { input: { ...input, bytes, bodyType }, problems: problems.problems };
}

type Finding = Parameters<Parameters<NonNullable<CatalogEntry["check"]>>[1]>;

function report(arrival: Arrival, at: Path, [code, below, message, hint]: Finding, problems: ProblemList): void {
  const place = [...arrival.path, ...at, ...below];
  const spelled = (text: string): string => spellFields(text, arrival.json, place);
  const path = resolveJsonPath(arrival.json, place);
  const problem: FieldProblem = { code, severity: "warning", path, message: spelled(message) };
  problems.problems.push(hint === undefined ? problem : { ...problem, hint: spelled(hint) });
}

function refused(problems: ProblemList): ReadResult {
  return { input: undefined, problems: problems.problems };
}

function isTypedAsWrapper(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const type = (value as Record<string, unknown>)["@type"];
  const url = typeof type === "string" ? parseTypeUrl(type) : undefined;
  return url !== undefined && isWrapperType(url);
}

const NOT_A_RESOURCE =
  "clients do not subscribe to this message by itself: it belongs in a typedConfig, such as that of a filter in a Listener; " +
  "what they do subscribe to goes into an envoy.service.discovery.v3.Resource with a name";

/**
 * Returns the wrapper's name, because clients subscribe by it, else the one in the message. Undefined after adding a
 * problem.
 */
function nameOf(arrival: Arrival, entry: CatalogEntry | undefined, problems: ProblemList): string | undefined {
  const own = ownNameOf(arrival, entry);
  const given = arrival.wrapper.name;
  if (given !== undefined && given !== "") {
    const mayDiffer =
      own === undefined || own === "" || given === own || given.startsWith("xdstp:") || entry?.kind === "vhds";
    if (!mayDiffer) {
      problems.warning(
        "NAME_MISMATCH",
        `expected one name, got ${JSON.stringify(given)} around the resource and ${JSON.stringify(own)} in it`,
        "some clients go by the one, some by the other",
      );
    }
    return given;
  }
  if (own !== undefined && own !== "") return own;
  const isNameWrong = problems.problems.some(({ path }) => /name$/i.test(String(path[arrival.path.length])));
  if (isNameWrong) return undefined;
  problems.path.push(...arrival.path);
  problems.error(
    "RESOURCE_UNNAMED",
    "expected a name, got none",
    entry === undefined ? NOT_A_RESOURCE : spellFields(entry.namingHint, arrival.json, arrival.path),
  );
  problems.path.length -= arrival.path.length;
  return undefined;
}

function ownNameOf({ decoded }: Arrival, entry: CatalogEntry | undefined): string | undefined {
  if (decoded === undefined) return undefined;
  if (entry !== undefined) return entry.nameIn?.(decoded.content);
  const name = (decoded.content as Content)["name"];
  return typeof name === "string" ? name : undefined;
}

const nothing: readonly never[] = [];

function aliasesOf(name: string, given: readonly string[], derived: readonly string[]): readonly string[] {
  if (given.length === 0 && derived.length === 0) return nothing;
  const aliases = new Set([...given, ...derived]);
  aliases.delete(name);
  return [...aliases];
}

function distinct(references: readonly AskedReference[]): readonly Reference[] {
  const [only] = references;
  if (only === undefined) return nothing;
  if (references.length === 1) return only.name === "" ? nothing : [{ type: only.type, name: only.name }];
  const seen = new Map<string, Reference>();
  for (const { type, name } of references) {
    const key = `${type} ${name}`;
    if (name !== "" && !seen.has(key)) seen.set(key, { type, name });
  }
  return [...seen.values()];
}

function resourceInput(
  type: TypeUrl,
  { bytes, wrapper }: Pick<Arrival, "bytes" | "wrapper">,
  { name, aliases, references }: Required<Pick<ResourceInput, "name" | "aliases" | "references">>,
): ResourceInput {
  // Not spread: that costs as much as the whole message does to encode.
  const said = references.length > 0 ? { type, name, bytes, references } : { type, name, bytes };
  if (aliases.length === 0 && !isSaidMore(wrapper)) return said;
  return {
    ...said,
    ...(aliases.length > 0 && { aliases }),
    ...(wrapper.constraints !== undefined && { constraints: wrapper.constraints }),
    ...(wrapper.ttlMs !== undefined && { ttlMs: wrapper.ttlMs }),
    ...(wrapper.doNotCache !== undefined && { doNotCache: wrapper.doNotCache }),
    ...(wrapper.metadata !== undefined && { metadata: wrapper.metadata }),
  };
}

function isSaidMore({ constraints, ttlMs, doNotCache, metadata }: ResourceWrapper): boolean {
  return constraints !== undefined || ttlMs !== undefined || doNotCache !== undefined || metadata !== undefined;
}

function requireMessage(schema: Schema, name: string): DescMessage {
  const message = schema.message(name);
  if (message === undefined) throw new Error(`the descriptors lack ${name}`);
  return message;
}
