/** A resource of one side. */
export interface DiffItem {
  /** The layer; "" where a node's view is compared. */
  readonly layer: string;
  readonly type: string;
  readonly name: string;
  /** A digest of the content, secrets included. */
  readonly version: string;
  /** The resource as JSON, secrets replaced. */
  readonly value: unknown;
}

/** A field in which two values differ; absent on a side that does not have it. */
export interface FieldDifference {
  readonly path: string;
  readonly a?: unknown;
  readonly b?: unknown;
}

/** A resource in which two sides differ. */
export interface ResourceDifference {
  readonly kind: "changed" | "only-a" | "only-b";
  readonly layer: string;
  readonly type: string;
  readonly name: string;
  /** Where it is on both sides. */
  readonly fields?: readonly FieldDifference[];
}

export interface Difference {
  readonly equal: number;
  readonly differences: readonly ResourceDifference[];
}

const REDACTED = "[redacted]";

/** Compares two sides by layer, type and name; secrets by the digest of the resource that they are in. */
export function compareSides(a: readonly DiffItem[], b: readonly DiffItem[]): Difference {
  const inB = new Map(b.map((item) => [keyOf(item), item]));
  const inA = new Set(a.map(keyOf));
  const differences: ResourceDifference[] = [];
  let equal = 0;
  for (const item of a) {
    const { layer, type, name } = item;
    const other = inB.get(keyOf(item));
    if (other === undefined) {
      differences.push({ kind: "only-a", layer, type, name });
      continue;
    }
    const fields = item.version === other.version ? [] : fieldsBetween(item, other);
    if (fields.length === 0) equal++;
    else differences.push({ kind: "changed", layer, type, name, fields });
  }
  for (const item of b) {
    const { layer, type, name } = item;
    if (!inA.has(keyOf(item))) differences.push({ kind: "only-b", layer, type, name });
  }
  return { equal, differences: differences.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)) };
}

function keyOf({ layer, type, name }: Pick<DiffItem, "layer" | "type" | "name">): string {
  return JSON.stringify([layer, type, name]);
}

/** The fields of a resource that differ; where one side's content is not known, its digests. */
export function fieldsBetween(a: DiffItem, b: DiffItem): readonly FieldDifference[] {
  if (a.value === undefined || b.value === undefined) return [{ path: "(digest)", a: a.version, b: b.version }];
  const fields = [...differencesIn(a.value, b.value, "")];
  if (fields.length > 0 || !JSON.stringify(a.value)?.includes(REDACTED)) return fields;
  return [{ path: "(secret)", a: a.version, b: b.version }];
}

/** The fields in which two JSON values differ, each at its deepest place. */
export function* differencesIn(a: unknown, b: unknown, path: string): Iterable<FieldDifference> {
  if (isContainer(a) && isContainer(b) && Array.isArray(a) === Array.isArray(b)) {
    const [membersA, membersB] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
    for (const name of new Set([...membersA.keys(), ...membersB.keys()])) {
      const at = Array.isArray(a) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
      yield* differencesIn(membersA.get(name), membersB.get(name), at);
    }
    return;
  }
  if (JSON.stringify(a) === JSON.stringify(b)) return;
  yield { path, ...(a !== undefined && { a }), ...(b !== undefined && { b }) };
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
