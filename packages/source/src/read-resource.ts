import {
  type EnvoyApi,
  type FieldProblem,
  type ReadResult,
  type ResourceWrapper,
  resolveJsonPath,
} from "@xdskit/envoy-api";
import type { Resource, ResourceInput, TypeUrl } from "@xdskit/protocol";
import { quote } from "@xdskit/protocol/internal";
import { entryOf } from "./document/places.ts";

/** How violations of Envoy's validation rules count: ignored, a warning, or an error that rejects the load. */
export type ValidationLevel = "off" | "warn" | "reject";

/** Options for decoding a file. */
export interface Decoding {
  readonly api: EnvoyApi;
  readonly validation: ValidationLevel;
  /** Warn about fields that the other API version cannot express (S-TYP-10). */
  readonly findsVersionLoss?: boolean;
  /** The resources are on demand: sent only on request by name. */
  readonly isOnDemand?: boolean;
  /** The thread has no other work: items of lists are read with their text, so that the values of few are in memory. */
  readonly isAlone?: boolean;
  /**
   * Makes a resource of what was read.
   * @default with a version of its content
   */
  readonly create?: (input: ResourceInput) => Resource;
  /** Called with each resource of a text that is read, unless it is recognised. */
  readonly onResource?: (resource: Resource) => void;
}

/**
 * Reads a JSON value as a resource, validates it and checks its name. `bodyPath` leads from the value to the message
 * inside a wrapper.
 */
export function readValue(value: unknown, decoding: Decoding, bodyPath: readonly (string | number)[]): ReadResult {
  const result = decoding.api.readResource(value);
  if (result.input === undefined) return result;
  const body = bodyPath.reduce<unknown>((inner, step) => entryOf(inner, String(step)), value);
  const broken = findBroken(result.input.type, result.input.bytes, decoding, body);
  const unusual = unusualName(result.input.name);
  if (result.problems.length + broken.length + unusual.length === 0)
    return { input: entering(result.input, decoding), problems: result.problems };
  const problems = [
    ...result.problems,
    ...broken.map((problem) => ({ ...problem, path: [...bodyPath, ...problem.path] })),
    ...unusual,
  ];
  return problems.some(({ severity }) => severity === "error")
    ? { input: undefined, problems }
    : { input: entering(result.input, decoding), problems };
}

/** Marks resources of an on-demand folder. */
function entering(input: ResourceInput, { isOnDemand }: Decoding): ResourceInput {
  return isOnDemand === true ? { ...input, onDemand: true } : input;
}

/** `body`: the JSON that the bytes were read from; undefined if they were read from none. */
function findBroken(type: TypeUrl, bytes: Uint8Array, decoding: Decoding, body?: unknown): readonly FieldProblem[] {
  const lost = decoding.findsVersionLoss === true ? decoding.api.convert(type, bytes, body)?.findings : undefined;
  const redacted = decoding.api.checkRedacted(type, bytes);
  const rules = brokenRules(type, bytes, decoding, body);
  if (redacted.length === 0 && lost === undefined) return rules;
  const placed = redacted.map((problem) => ({ ...problem, path: resolveJsonPath(body, problem.path) }));
  return [...placed, ...rules, ...(lost ?? [])];
}

function brokenRules(
  type: TypeUrl,
  bytes: Uint8Array,
  { api, validation }: Decoding,
  body: unknown,
): readonly FieldProblem[] {
  if (validation === "off" || api.soundName(type, bytes) !== undefined) return [];
  const broken = api.validate(type, bytes, body);
  return validation === "warn" ? broken : broken.map((problem) => ({ ...problem, severity: "error" }));
}

const WILDCARD = "*";
const USUAL_NAME = /^[!-~]*$/;
const nothing: readonly never[] = [];

/** Warns of a name that resembles another, looks empty or means something else. It is served unchanged. */
function unusualName(name: string): readonly FieldProblem[] {
  const reason = whyUnusual(name);
  if (reason === undefined) return nothing;
  const message = `the name ${quote(name)} ${reason}`;
  const hint = name === WILDCARD ? "give it another name" : "clients compare names byte by byte";
  return [{ code: "RESOURCE_NAME_UNUSUAL", severity: "warning", path: [], message, hint }];
}

function whyUnusual(name: string): string | undefined {
  if (name === WILDCARD) return "is the wildcard: no client can subscribe to the resource by its name";
  if (USUAL_NAME.test(name)) return undefined;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return "holds a character that cannot be seen";
  if (name !== name.trim()) return "begins or ends with a space";
  if (name !== name.normalize("NFC"))
    return "is not in Unicode's composed form (NFC), so that it looks like a name that it does not equal";
  return undefined;
}

/** Reads an encoded message as a resource, in the same way. */
export function readEncoded(
  type: TypeUrl,
  value: Uint8Array,
  wrapper: ResourceWrapper | undefined,
  decoding: Decoding,
): ReadResult {
  const result = decoding.api.readEncodedResource(type, value, wrapper);
  if (result.input === undefined) return result;
  const problems = [...result.problems, ...findBroken(type, value, decoding), ...unusualName(result.input.name)];
  return problems.some(({ severity }) => severity === "error")
    ? { input: undefined, problems }
    : { input: entering(result.input, decoding), problems };
}
