/**
 * Which clients a resource variant is for: a condition on their dynamic parameters (B-LOC-04). Parameters that it does
 * not mention do not matter.
 */
export type Constraints =
  /** The client has the parameter with this value. */
  | { readonly kind: "value"; readonly key: string; readonly value: string }
  /** The client has the parameter, with any value. */
  | { readonly kind: "exists"; readonly key: string }
  | { readonly kind: "any" | "all"; readonly of: readonly Constraints[] }
  | { readonly kind: "not"; readonly of: Constraints };

/** The dynamic parameters of a client, by key. */
export type Parameters = ReadonlyMap<string, string>;

/** A client without parameters. */
export const noParameters: Parameters = new Map();

/** Matches every client. */
export const always: Constraints = { kind: "all", of: [] };

/** Whether parameters meet the constraints. */
export function matches(constraints: Constraints, parameters: Parameters): boolean {
  switch (constraints.kind) {
    case "value":
      return parameters.get(constraints.key) === constraints.value;
    case "exists":
      return parameters.has(constraints.key);
    case "any":
      return constraints.of.some((one) => matches(one, parameters));
    case "all":
      return constraints.of.every((one) => matches(one, parameters));
    case "not":
      return !matches(constraints.of, parameters);
  }
}

/** Constraints that are met in more cases are looked at as a whole. */
const MAX_CASES = 64;

/**
 * Returns the values of some keys that meet the constraints, one map for each case; undefined where values alone do not
 * say it, or where the cases are too many.
 */
export function casesOf(constraints: Constraints): readonly Parameters[] | undefined {
  switch (constraints.kind) {
    case "value":
      return [new Map([[constraints.key, constraints.value]])];
    case "exists":
    case "not":
      return undefined;
    case "any": {
      const cases: Parameters[] = [];
      for (const one of constraints.of) {
        const found = casesOf(one);
        if (found === undefined) return undefined;
        for (const values of found) cases.push(values);
      }
      return cases;
    }
    case "all": {
      let cases: readonly Parameters[] = [noParameters];
      for (const one of constraints.of) {
        const found = casesOf(one);
        if (found === undefined || found.length * cases.length > MAX_CASES) return undefined;
        cases = cases.flatMap((a) => found.flatMap((b) => joined(a, b)));
      }
      return cases;
    }
  }
}

/** Returns the values of these keys as one text; a key without a value counts as one. */
export function valuesOf(keys: readonly string[], parameters: Parameters): string {
  return JSON.stringify(keys.map((key) => parameters.get(key) ?? null));
}

/** Both cases in one; none where they contradict each other. */
function joined(a: Parameters, b: Parameters): readonly Parameters[] {
  for (const [key, value] of b) if (a.has(key) && a.get(key) !== value) return [];
  return [new Map([...a, ...b])];
}

/** Returns the parameter keys that constraints mention, sorted. */
export function constrainedKeys(constraints: Constraints): readonly string[] {
  const keys = new Set<string>();
  for (const { key } of singleConstraints(constraints)) keys.add(key);
  return [...keys].sort();
}

/** Returns constraints that match every client with at least these parameters. */
export function constraintsOf(parameters: Parameters): Constraints {
  const of = sortedEntries(parameters).map(([key, value]): Constraints => ({ kind: "value", key, value }));
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: "all", of };
}

/** Returns the parameters sorted by key. */
export function sortedEntries(parameters: Parameters): readonly (readonly [key: string, value: string])[] {
  return [...parameters].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Normalises the order of constraints and drops repeated ones. Equivalent constraints may still have different forms;
 * these count as overlapping.
 */
export function canonicalConstraints(constraints: Constraints): Constraints {
  switch (constraints.kind) {
    case "value":
    case "exists":
      return constraints;
    case "not": {
      const inner = canonicalConstraints(constraints.of);
      return inner.kind === "not" ? inner.of : { kind: "not", of: inner };
    }
    case "any":
    case "all": {
      const byText = new Map(constraints.of.map(canonicalConstraints).map((one) => [formatConstraints(one), one]));
      const of = [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
      const [only] = of;
      return of.length === 1 && only !== undefined ? only : { kind: constraints.kind, of };
    }
  }
}

type Encoded = readonly ["=", string, string] | readonly ["?", string] | readonly ["|" | "&" | "!", ...unknown[]];

/** Formats constraints as text that `parseConstraints` reads. */
export function formatConstraints(constraints: Constraints): string {
  return JSON.stringify(encode(constraints));
}

/** Parses what `formatConstraints` wrote; undefined for any other text. */
export function parseConstraints(text: string): Constraints | undefined {
  try {
    return decode(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Formats constraints for display: `env = "prod" and not (zone exists)`. */
export function describeConstraints(constraints: Constraints): string {
  switch (constraints.kind) {
    case "value":
      return `${constraints.key} = ${JSON.stringify(constraints.value)}`;
    case "exists":
      return `${constraints.key} exists`;
    case "not":
      return `not (${describeConstraints(constraints.of)})`;
    case "any":
    case "all": {
      if (constraints.of.length === 0) return constraints.kind === "all" ? "always" : "never";
      const word = constraints.kind === "all" ? " and " : " or ";
      return constraints.of.map((one) => describePart(one)).join(word);
    }
  }
}

function describePart(constraints: Constraints): string {
  const text = describeConstraints(constraints);
  return (constraints.kind === "any" || constraints.kind === "all") && constraints.of.length > 1 ? `(${text})` : text;
}

/** Yields every constraint on a single parameter. */
export function* singleConstraints(
  constraints: Constraints,
): Iterable<Extract<Constraints, { kind: "value" | "exists" }>> {
  switch (constraints.kind) {
    case "value":
    case "exists":
      yield constraints;
      break;
    case "not":
      yield* singleConstraints(constraints.of);
      break;
    case "any":
    case "all":
      for (const one of constraints.of) yield* singleConstraints(one);
  }
}

function encode(constraints: Constraints): Encoded {
  switch (constraints.kind) {
    case "value":
      return ["=", constraints.key, constraints.value];
    case "exists":
      return ["?", constraints.key];
    case "not":
      return ["!", encode(constraints.of)];
    case "any":
    case "all":
      return [constraints.kind === "any" ? "|" : "&", ...constraints.of.map(encode)];
  }
}

function decode(value: unknown): Constraints | undefined {
  if (!Array.isArray(value)) return undefined;
  const [kind, ...rest]: readonly unknown[] = value;
  const [first, second] = rest;
  if (kind === "=" && typeof first === "string" && typeof second === "string")
    return { kind: "value", key: first, value: second };
  if (kind === "?" && typeof first === "string") return { kind: "exists", key: first };
  if (kind === "!") {
    const of = decode(first);
    return of && { kind: "not", of };
  }
  if (kind !== "|" && kind !== "&") return undefined;
  const of = rest.map(decode);
  return of.includes(undefined)
    ? undefined
    : { kind: kind === "|" ? "any" : "all", of: of.flatMap((one) => one ?? []) };
}
