import {
  type EnvoyApi,
  type FieldProblem,
  type ReadResult,
  type ResourceWrapper,
  resolveJsonPath,
} from "@xdskit/envoy-api";
import type { ResourceInput, TypeUrl } from "@xdskit/protocol";
import { entryOf } from "./document/places.ts";
import { quote } from "./problem.ts";

/** How the validation rules of Envoy's messages count: not looked at, warned of, or a reason to refuse the load. */
export type ValidationLevel = "off" | "warn" | "reject";

/** What is needed to turn a file into resources. */
export interface Decoding {
  readonly api: EnvoyApi;
  readonly validation: ValidationLevel;
  /** Tells what the other version of the API cannot express (S-TYP-10). */
  readonly findsVersionLoss?: boolean;
  /** What is read is sent only to those who ask for it by name. */
  readonly isOnDemand?: boolean;
}

/**
 * A JSON value as a resource, with the validation rules applied and its name looked at. `bodyPath` leads from the value
 * to the message itself, where something is around it.
 */
export function readValue(value: unknown, decoding: Decoding, bodyPath: readonly (string | number)[]): ReadResult {
  const result = decoding.api.readResource(value);
  if (result.input === undefined) return result;
  const broken = findBroken(result.input.type, result.input.bytes, decoding);
  const body = bodyPath.reduce<unknown>((inner, step) => entryOf(inner, String(step)), value);
  const problems = [
    ...result.problems,
    ...broken.map((problem) => ({ ...problem, path: [...bodyPath, ...resolveJsonPath(body, problem.path)] })),
    ...unusualName(result.input.name),
  ];
  return problems.some(({ severity }) => severity === "error")
    ? { input: undefined, problems }
    : { input: entering(result.input, decoding), problems };
}

/** As it goes in: what stands in a folder of such is sent on demand only. */
function entering(input: ResourceInput, { isOnDemand }: Decoding): ResourceInput {
  return isOnDemand === true ? { ...input, onDemand: true } : input;
}

function findBroken(type: TypeUrl, bytes: Uint8Array, decoding: Decoding): readonly FieldProblem[] {
  const lost = decoding.findsVersionLoss === true ? decoding.api.convert(type, bytes)?.findings : undefined;
  return [...brokenRules(type, bytes, decoding), ...(lost ?? [])];
}

function brokenRules(type: TypeUrl, bytes: Uint8Array, { api, validation }: Decoding): readonly FieldProblem[] {
  if (validation === "off") return [];
  const broken = api.validate(type, bytes);
  return validation === "warn" ? broken : broken.map((problem) => ({ ...problem, severity: "error" }));
}

/** Names that look like another one, or like nothing. They are served as they are; the operator is told. */
function unusualName(name: string): readonly FieldProblem[] {
  const reason = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)
    ? "holds a character that cannot be seen"
    : name !== name.trim()
      ? "begins or ends with a space"
      : name !== name.normalize("NFC")
        ? "is not in Unicode's composed form (NFC), so that it looks like a name that it does not equal"
        : undefined;
  if (reason === undefined) return [];
  const hint = "clients compare names byte by byte";
  return [
    {
      code: "RESOURCE_NAME_UNUSUAL",
      severity: "warning",
      path: [],
      message: `the name ${quote(name)} ${reason}`,
      hint,
    },
  ];
}

/** An encoded message as a resource, in the same way. */
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
