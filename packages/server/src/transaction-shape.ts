import type { LayerChange, Transaction } from "@xdskit/protocol";
import type { OptionProblem } from "./error.ts";

const namesOfChange: Readonly<Record<keyof LayerChange, true>> = {
  layer: true,
  puts: true,
  deletes: true,
  typeVersions: true,
  canaries: true,
};

/**
 * Finds every mistake in the shape of a transaction. Does not check the fields of every resource, because there may be
 * very many and `createResource` makes them.
 */
export function findTransactionProblems({ changes, systemVersion }: Transaction): readonly OptionProblem[] {
  const given: unknown = changes;
  const version: unknown = systemVersion;
  return [
    ...(Array.isArray(given)
      ? given.flatMap((change: unknown, index) => findProblemsOfChange(`changes[${index}]`, change))
      : [{ path: "changes", message: `expected a list, got ${describe(given)}` }]),
    ...(version === undefined || typeof version === "string"
      ? []
      : [{ path: "systemVersion", message: `expected a string, got ${describe(version)}` }]),
  ];
}

function findProblemsOfChange(path: string, change: unknown): readonly OptionProblem[] {
  if (!isRecord(change)) return [{ path, message: `expected { layer, puts, deletes }, got ${describe(change)}` }];
  const { layer, puts, deletes } = change;
  return [
    ...(typeof layer === "string" && layer !== ""
      ? []
      : [{ path: `${path}.layer`, message: `expected the name of a layer, got ${describe(layer)}` }]),
    ...Object.keys(change).flatMap((name) =>
      Object.hasOwn(namesOfChange, name)
        ? []
        : [{ path: `${path}.${name}`, message: `expected one of ${Object.keys(namesOfChange).join(", ")}` }],
    ),
    ...findProblemsOfList(`${path}.puts`, puts, isResource, "a resource as createResource makes it"),
    ...findProblemsOfList(`${path}.deletes`, deletes, isDeletion, "{ type, name }"),
  ];
}

function findProblemsOfList(
  path: string,
  list: unknown,
  isGood: (one: unknown) => boolean,
  expected: string,
): readonly OptionProblem[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return [{ path, message: `expected a list, got ${describe(list)}` }];
  // Only the first mistake of a kind is reported.
  const bad = list.findIndex((one) => !isGood(one));
  return bad === -1 ? [] : [{ path: `${path}[${bad}]`, message: `expected ${expected}, got ${describe(list[bad])}` }];
}

function isResource(one: unknown): boolean {
  return isDeletion(one) && isRecord(one) && one["bytes"] instanceof Uint8Array && typeof one["sum"] === "bigint";
}

function isDeletion(one: unknown): boolean {
  return isRecord(one) && typeof one["type"] === "string" && typeof one["name"] === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Describes the kind of a value, not its content, which may be secret. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "another object";
  return value === "" ? '""' : `a ${typeof value}`;
}
