import type { EnvoyApi, FieldProblem, ResourceWrapper } from "@xdskit/envoy-api";
import { parseTypeUrl, type ResourceInput, type TypeUrl } from "@xdskit/protocol";
import {
  canonicalName,
  constrainedName,
  type HeldResource,
  isOfV2,
  type ReceivedResource,
} from "@xdskit/protocol/internal";
import { membersOf } from "../resource/members.ts";
import type { Copies } from "./copies.ts";
import type { UnwrappedResource } from "./unwrapped-resource.ts";
import { type Candidate, candidateOf, type ResourceValidator, runValidators } from "./validators.ts";

/** Options for judging resources. */
export interface JudgeOptions {
  readonly api: EnvoyApi;
  /** Whether to validate by the rules of the descriptors (C-VAL-01). */
  readonly isPgvOn: boolean;
  readonly validators: readonly ResourceValidator[];
}

/** What a response is expected to contain. */
export interface Expectation {
  readonly type: TypeUrl;
  /**
   * The name in the wrapper must equal that in the resource if both exist (C-TTL-04); in delta only the wrapper's
   * counts.
   */
  readonly isSameNameWanted: boolean;
  /** A resource of the type's other API version is accepted as one of the type (C-TYP-14). */
  readonly acceptsTwin: boolean;
}

/** A judged resource, or one of a type that does not belong in the response (C-TYP-12). */
export type Judgement = ReceivedResource | { readonly misplaced: string };

/**
 * Decodes and validates single resources. An unreadable resource gets its own error and does not affect the others
 * (C-VAL-05).
 */
export class Judge {
  readonly #api: EnvoyApi;
  readonly #isPgvOn: boolean;
  readonly #validators: ReadonlyMap<TypeUrl, readonly ResourceValidator[]>;

  constructor({ api, isPgvOn, validators }: JudgeOptions) {
    this.#api = api;
    this.#isPgvOn = isPgvOn;
    this.#validators = byType(validators, api);
  }

  /** Links the descriptors of a type and builds its decoding plan in advance. */
  prepare(type: TypeUrl): void {
    this.#api.soundName(type, noBytes, this.#isPgvOn);
  }

  /** Returns a promise only if a validator does. */
  judge(parcel: UnwrappedResource, expected: Expectation, copies: Copies): Judgement | Promise<Judgement> {
    if (parcel.any === undefined || parcel.problem !== undefined) return this.#judgeBare(parcel);
    const body = this.#bodyOf(parcel.any.typeUrl, parcel.any.value, expected);
    if ("misplaced" in body) return body;
    if ("problem" in body) return refused(parcel, [body.problem]);
    const soundName = this.#soundNameOf(parcel, body, expected);
    if (soundName !== undefined)
      return this.#finish(parcel, { type: body.type, name: soundName, bytes: copies.of(body.bytes) }, []);
    const result = this.#api.readEncodedResource(body.type, body.bytes, wrapperOf(parcel));
    const { input } = result;
    if (input === undefined) return refused(parcel, result.problems.filter(isError).map(describe));
    if (input.type !== expected.type)
      return { misplaced: `expected resources of ${expected.type}, got a redirection of ${input.type}` };
    const { problems } = result;
    const reasons = problems.length === 0 ? [] : problems.filter((one) => isRefusal(one, expected)).map(describe);
    if (!this.#isPgvOn || input.bodyType !== undefined) return this.#finish(parcel, input, reasons);
    const violations = this.#api.validate(input.type, input.bytes).map(describe);
    return this.#finish(parcel, input, reasons.concat(violations));
  }

  /**
   * The name of a resource that need not be decoded because it is valid and its name is known. Most resources are such.
   */
  #soundNameOf(parcel: UnwrappedResource, { type, bytes }: Body, expected: Expectation): string | undefined {
    const { name: given, aliases, ttlMs = 1 } = parcel;
    if (type !== expected.type || aliases.length > 0 || !(ttlMs > 0) || isListType(type)) return undefined;
    const own = this.#api.soundName(type, bytes, this.#isPgvOn);
    if (own === undefined || given === undefined) return own || undefined;
    return own === "" || own === given || !expected.isSameNameWanted ? given : undefined;
  }

  /** Accepts a heartbeat, or a wrapper that says the resource does not exist (C-NEX-08). */
  #judgeBare(parcel: UnwrappedResource): ReceivedResource {
    const isTtlWrong = parcel.ttlMs !== undefined && !(parcel.ttlMs > 0);
    const problems = [
      ...(parcel.problem === undefined ? [] : [parcel.problem]),
      ...(parcel.name === undefined ? ["expected a name, got none"] : []),
      ...(isTtlWrong ? [`expected a ttl of more than 0, got ${parcel.ttlMs} ms`] : []),
    ];
    if (problems.length > 0) return refused(parcel, problems);
    const name = keyOf(parcel, parcel.name ?? "");
    const { aliases, version, ttlMs } = parcel;
    return { name, aliases, version, bytes: undefined, ttlMs };
  }

  /** Adds every check beyond the rules of the descriptor. */
  #finish(
    parcel: UnwrappedResource,
    input: ResourceInput,
    reasons: readonly string[],
  ): ReceivedResource | Promise<ReceivedResource> {
    const resource = resourceOf(parcel, input);
    if (input.bodyType !== undefined) return withProblems(resource, reasons);
    const listed = isListType(input.type) && this.#isList(input) ? this.#listedIn(input) : undefined;
    if (listed === undefined && !this.#validators.has(input.type)) return withProblems(resource, reasons);
    const told = [...reasons, ...(listed?.problems ?? [])];
    const verdicts = this.#validate([input, ...(listed?.resources ?? [])]);
    return verdicts instanceof Promise
      ? verdicts.then((more) => withProblems(resource, [...told, ...more]))
      : withProblems(resource, [...told, ...verdicts]);
  }

  #isList({ type, bytes }: ResourceInput): boolean {
    return this.#api.collectionEntries(type, bytes) !== undefined;
  }

  /** Judges everything in a list collection with the collection (B-XTP-07). */
  #listedIn({ type, name, bytes }: ResourceInput): ListedResources {
    const { members, problems } = membersOf({ type, bytes }, canonicalName(name), this.#api);
    return { resources: members.flatMap((member) => (member.kind === "inline" ? member.resource : [])), problems };
  }

  /** Returns a promise only if a validator does. */
  #validate(judged: readonly Omit<Candidate, "json">[]): readonly string[] | Promise<readonly string[]> {
    const verdicts = judged.map((one) =>
      runValidators(this.#validators.get(one.type) ?? nothing, candidateOf(this.#api, one)),
    );
    const [first] = verdicts;
    if (verdicts.length === 1 && first !== undefined) return first;
    const isTimely = verdicts.every((one): one is readonly string[] => !(one instanceof Promise));
    return isTimely ? verdicts.flat() : Promise.all(verdicts).then((all) => all.flat());
  }

  /** The body to read, in the requested API version. */
  #bodyOf(
    typeText: string,
    bytes: Uint8Array,
    { type: expected, acceptsTwin }: Expectation,
  ): Body | { readonly problem: string } | { misplaced: string } {
    const type = typeText === expected ? expected : parseTypeUrl(typeText);
    if (type === expected || type === REDIRECT) return { type, bytes };
    if (acceptsTwin && type !== undefined && this.#api.traits(type)?.twin === expected) {
      const converted = this.#api.convert(type, bytes);
      if (converted?.bytes !== undefined) return { type: expected, bytes: converted.bytes };
      return { problem: `a resource of ${type} that cannot be read as ${expected}` };
    }
    return { misplaced: `expected resources of ${expected}, got one of ${type ?? "no type"}` };
  }
}

const noBytes = new Uint8Array();
/** Shared: most resources have no aliases. */
const nothing: readonly never[] = [];

/** More problems of one resource are only counted: a NACK that the server finds too large would end the stream. */
const MOST_PROBLEMS = 100;

const REDIRECT: TypeUrl = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** The type and bytes to read. */
interface Body {
  readonly type: TypeUrl;
  readonly bytes: Uint8Array;
}

/** The resources in a list collection, and their problems. */
interface ListedResources {
  readonly resources: readonly HeldResource[];
  readonly problems: readonly string[];
}

/** Whether a problem rejects a received resource; warnings are advice for files only. */
function isRefusal({ code, severity }: FieldProblem, { isSameNameWanted }: Expectation): boolean {
  return severity === "error" || (isSameNameWanted && code === "NAME_MISMATCH");
}

function isListType(type: TypeUrl): boolean {
  return type.endsWith("Collection");
}

function isError({ severity }: FieldProblem): boolean {
  return severity === "error";
}

function wrapperOf({ name, aliases, ttlMs }: UnwrappedResource): ResourceWrapper {
  if (name !== undefined && ttlMs === undefined) return { name, aliases };
  return { ...(name !== undefined && { name }), aliases, ...(ttlMs !== undefined && { ttlMs }) };
}

function resourceOf(parcel: UnwrappedResource, input: ResourceInput): ReceivedResource {
  return {
    name: keyOf(parcel, canonicalName(input.name)),
    aliases: input.aliases ?? nothing,
    version: parcel.version,
    bytes: input.bytes,
    ...(input.bodyType !== undefined && { bodyType: input.bodyType }),
    ttlMs: parcel.ttlMs,
  };
}

/** A resource that is too malformed to have a name gets the name "". */
function refused(parcel: UnwrappedResource, problems: readonly string[]): ReceivedResource {
  const { aliases, version, ttlMs, any, name = "" } = parcel;
  const bytes = any === undefined ? undefined : new Uint8Array(any.value);
  return withProblems({ name: keyOf(parcel, name), aliases, version, bytes, ttlMs }, problems);
}

function withProblems(resource: ReceivedResource, problems: readonly string[]): ReceivedResource {
  if (problems.length === 0) return resource;
  const more = problems.length - MOST_PROBLEMS;
  const shown = problems.slice(0, MOST_PROBLEMS).join("; ");
  return { ...resource, problem: more > 0 ? `${shown}; and ${more} more` : shown };
}

function keyOf({ constraints }: UnwrappedResource, name: string): string {
  return constraints === undefined ? name : constrainedName(name, constraints);
}

function describe({ path, message }: FieldProblem): string {
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}

/** Validators of a type also judge its twin in the other API version. */
function byType(
  validators: readonly ResourceValidator[],
  api: Pick<EnvoyApi, "traits">,
): ReadonlyMap<TypeUrl, readonly ResourceValidator[]> {
  const sorted = new Map<TypeUrl, ResourceValidator[]>();
  for (const one of validators) {
    const twin = api.traits(one.type)?.twin;
    const types = twin === undefined || isOfV2(one.type) ? [one.type] : [one.type, twin];
    for (const type of types) sorted.set(type, [...(sorted.get(type) ?? []), one]);
  }
  return sorted;
}
