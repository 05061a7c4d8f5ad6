import type { EnvoyApi, FieldProblem } from "@xdskit/envoy-api";
import { contentDigest } from "@xdskit/envoy-api";
import { usesJsonSpelling, withoutFlags } from "@xdskit/envoy-api/internal";
import type { AnyMessage } from "@xdskit/envoy-api/resources";
import { createResource, messageNameOf, type Resource, type TypeUrl } from "@xdskit/protocol";
import { describeKind } from "@xdskit/protocol/internal";
import { formatPath, noSeverities, readValue, type ValidationLevel, withSeverity } from "@xdskit/source/checks";
import type { ResourceProblem } from "../error.ts";

/** A resource read from the program's input; its warnings have paths relative to the resource. */
export interface ReadInput {
  readonly resource: Resource;
  readonly warnings: readonly ResourceProblem[];
  /** Its fields are spelled as in ProtoJSON. */
  readonly isJsonSpelled: boolean;
  /** The digest of the input, where it has one. */
  readonly digest: bigint | undefined;
}

/** The position of a value in the input. */
export interface InputPlace {
  readonly layer: string;
  readonly list: "resources" | "put";
  readonly index: number;
}

/** The path of a value, such as `resources[2]`. */
export function pathOf({ list, index }: InputPlace): string {
  return `${list}[${index}]`;
}

/** What reading depends on, and where the errors of one call are gathered. */
export interface Reading {
  readonly api: EnvoyApi;
  readonly validation: ValidationLevel;
  readonly problems: ResourceProblem[];
}

/**
 * Reads plain data as a resource. What is an error in files is one here too: each is added to `problems`, with its path,
 * and undefined is returned.
 */
export function readInput(
  value: AnyMessage,
  place: InputPlace,
  { api, validation, problems }: Reading,
  digest: bigint | undefined,
): ReadInput | undefined {
  const { layer } = place;
  if (value instanceof Promise) {
    const path = pathOf(place);
    const message = `expected a resource, got ${describeKind(value)}`;
    problems.push({ layer, path, code: "ARGUMENT_INVALID", severity: "error", message });
    return undefined;
  }
  const { input, problems: found } = readValue(value, { api, validation }, []);
  const isWrong = found.some((one) => fieldProblem(one, "").severity === "error");
  if (input === undefined || isWrong) {
    const identity = { layer, ...identityIn(value) };
    const path = pathOf(place);
    const all = found.map((one) => ({ ...identity, ...fieldProblem(one, path) }));
    problems.push(...all.filter(({ severity }) => severity === "error"));
    return undefined;
  }
  const { type, name } = input;
  const warnings =
    found.length === 0 ? noWarnings : found.map((one) => ({ layer, type, name, ...fieldProblem(one, "") }));
  const resource = createResource(input, contentDigest);
  return { resource, warnings, digest, isJsonSpelled: usesJsonSpelling(value) };
}

const noWarnings: readonly ResourceProblem[] = [];

/** The problem of a resource that occurs twice in one input. */
export function duplicateProblem({ type, name }: Resource, place: InputPlace, firstPath: string): ResourceProblem {
  return {
    layer: place.layer,
    type,
    name,
    path: pathOf(place),
    code: "RESOURCE_DUPLICATE",
    severity: "error",
    message: `expected one ${messageNameOf(type)} named ${JSON.stringify(name)}, got another at ${firstPath}`,
  };
}

function fieldProblem(
  { code, severity, message, hint, path }: FieldProblem,
  prefix: string,
): Pick<ResourceProblem, "code" | "severity" | "message" | "hint" | "path"> {
  const field = formatPath(path);
  const joined = field === "" || field.startsWith("[") || prefix === "" ? `${prefix}${field}` : `${prefix}.${field}`;
  const given = { code, severity, path: joined, message, ...(hint === undefined ? {} : { hint: withoutFlags(hint) }) };
  return withSeverity(given, noSeverities) ?? given;
}

/** The type and name of a rejected value, as far as they can be read. */
function identityIn(value: unknown): { readonly type?: TypeUrl; readonly name?: string } {
  if (typeof value !== "object" || value === null) return {};
  const { "@type": type, name, clusterName, cluster_name } = value as Readonly<Record<string, unknown>>;
  const called = [name, clusterName, cluster_name].find((one) => typeof one === "string");
  return {
    ...(typeof type === "string" && type.startsWith("type.googleapis.com/") && { type: type as TypeUrl }),
    ...(typeof called === "string" && { name: called }),
  };
}
