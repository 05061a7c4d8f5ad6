import type { NodeMapping } from "@xdskit/protocol";
import type { OptionProblem } from "./error.ts";
import { describeKind, hasFields, kinds } from "./option-kinds.ts";

const PATTERN_FIELDS: readonly string[] = ["id", "cluster", "userAgentName"];
const EXPECTED = "a function, or { groups: [...] }";
const LOCALITY_FIELDS: readonly string[] = ["region", "zone", "subZone"];

/** Finds every mistake in a node mapping that is data. */
export function findMappingProblems(mapping: NodeMapping): readonly OptionProblem[] {
  if (typeof mapping === "function") return [];
  if (!hasFields(mapping))
    return [{ path: "nodeMapping", message: `expected ${EXPECTED}, got ${describeKind(mapping)}` }];
  const { groups } = mapping;
  if (!Array.isArray(groups))
    return [{ path: "nodeMapping.groups", message: `expected a list of rules, got ${describeKind(groups)}` }];
  return groups.flatMap((rule: unknown, index) => {
    const at = `nodeMapping.groups[${index}]`;
    if (!hasFields(rule)) return [{ path: at, message: `expected { name, match }, got ${describeKind(rule)}` }];
    const { name, match } = rule;
    const isNamed = typeof name === "string" && name !== "";
    const named = isNamed ? [] : [{ path: `${at}.name`, message: `expected a name, got ${describeKind(name)}` }];
    return [...named, ...findMatchProblems(`${at}.match`, match)];
  });
}

/** Finds every mistake in a node match. */
export function findMatchProblems(path: string, match: unknown): readonly OptionProblem[] {
  const known = [...PATTERN_FIELDS, "locality", "metadata"];
  if (!hasFields(match)) return [{ path, message: `expected an object, got ${describeKind(match)}` }];
  return Object.entries(match).flatMap(([field, wanted]) => {
    const at = `${path}.${field}`;
    if (wanted === undefined) return [];
    if (PATTERN_FIELDS.includes(field)) return findPatternProblems(at, wanted);
    if (field === "metadata") return findMetadataProblems(at, wanted);
    if (field === "locality") return findLocalityProblems(at, wanted);
    return [{ path: at, message: `expected one of ${known.join(", ")}` }];
  });
}

function findLocalityProblems(path: string, locality: unknown): readonly OptionProblem[] {
  if (!hasFields(locality)) return [{ path, message: `expected an object, got ${describeKind(locality)}` }];
  return Object.entries(locality).flatMap(([field, wanted]) =>
    LOCALITY_FIELDS.includes(field)
      ? findPatternProblems(`${path}.${field}`, wanted)
      : [{ path: `${path}.${field}`, message: `expected one of ${LOCALITY_FIELDS.join(", ")}` }],
  );
}

function findMetadataProblems(path: string, metadata: unknown): readonly OptionProblem[] {
  if (!hasFields(metadata)) return [{ path, message: `expected an object, got ${describeKind(metadata)}` }];
  return Object.entries(metadata).flatMap(([field, wanted]) =>
    hasFields(wanted)
      ? findMetadataProblems(`${path}.${field}`, wanted)
      : findPatternProblems(`${path}.${field}`, wanted),
  );
}

function findPatternProblems(path: string, patterns: unknown): readonly OptionProblem[] {
  if (patterns === undefined || kinds.texts.holds(patterns)) return [];
  return [{ path, message: `expected a list of patterns, got ${describeKind(patterns)}` }];
}
