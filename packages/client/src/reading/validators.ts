import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import { aFunction } from "@xdskit/protocol/internal";
import { argumentCheck } from "../argument.ts";
import { type TypeOrUrl, typeUrlOf } from "../resource/resource-type.ts";

/** A resource to validate. */
export interface Candidate<Json = unknown> {
  readonly type: TypeUrl;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Canonical JSON, made on first read. */
  readonly json: Json;
}

/** The reason to reject a resource; undefined: accept it. A thrown error is a reason too. */
export type Verdict = string | undefined;

/** Validates resources of one type beyond the rules of their descriptors (C-VAL-02, C-MSC-06). */
export interface ResourceValidator {
  readonly type: TypeUrl;
  readonly check: (candidate: Candidate<never>) => Verdict | Promise<Verdict>;
}

const checkValidator = argumentCheck("validator", { check: aFunction });

/**
 * Makes a validator whose candidates have the JSON of the type. The client NACKs with the reason. Throws
 * `ARGUMENT_INVALID`.
 */
export function validator<Json>(
  type: TypeOrUrl<Json>,
  check: (candidate: Candidate<Json>) => Verdict | Promise<Verdict>,
): ResourceValidator {
  checkValidator(check);
  return { type: typeUrlOf(type), check };
}

/** Runs all validators of the type and returns their reasons; a promise only if one of them is asynchronous. */
export function runValidators(
  validators: readonly ResourceValidator[],
  candidate: Candidate,
): readonly string[] | Promise<readonly string[]> {
  const verdicts = validators.map((one) => verdictOf(one, candidate));
  if (verdicts.some((one) => one instanceof Promise)) return Promise.all(verdicts).then(reasonsIn);
  return reasonsIn(verdicts as readonly Verdict[]);
}

/** Makes the JSON at most once, and only if a validator reads it. */
export function candidateOf(api: Pick<EnvoyApi, "toJson">, { type, name, bytes }: Omit<Candidate, "json">): Candidate {
  let json: unknown;
  return {
    type,
    name,
    bytes,
    get json() {
      json ??= api.toJson(type, bytes);
      return json;
    },
  };
}

function verdictOf({ check }: ResourceValidator, candidate: Candidate): Verdict | Promise<Verdict> {
  try {
    const verdict = check(candidate as Candidate<never>);
    return verdict instanceof Promise ? verdict.catch(failureOf) : verdict;
  } catch (cause) {
    return failureOf(cause);
  }
}

function failureOf(cause: unknown): string {
  return `a validator failed: ${cause instanceof Error ? cause.message : String(cause)}`;
}

function reasonsIn(verdicts: readonly Verdict[]): readonly string[] {
  return verdicts.flatMap((one) => (one === undefined || one === "" ? [] : [one]));
}
