/** A JSON Schema (2020-12) in which the named schemas of `definitions` may be referred to. */
export interface AnswerSchema {
  readonly json: Readonly<Record<string, unknown>>;
  /** Named schemas that `json` refers to, directly or not. */
  readonly definitions: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** The schema of exactly the values of `T`: the compiler keeps a schema and the type that it is of in step. */
export interface SchemaOf<T> extends AnswerSchema {
  /** Never there; makes `T` invariant. */
  readonly of?: (value: T) => T;
}

type OptionalKey<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
type RequiredKey<T> = Exclude<keyof T, OptionalKey<T>>;
/** The schemas of the members of an object. */
export type Members<T> = { readonly [K in RequiredKey<T>]: SchemaOf<T[K]> } & {
  readonly [K in OptionalKey<T>]-?: { readonly optional: SchemaOf<Exclude<T[K], undefined>> };
};

const none: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map();

export const text: SchemaOf<string> = { json: { type: "string" }, definitions: none };
/** An ISO 8601 time. */
export const time: SchemaOf<string> = { json: { type: "string", format: "date-time" }, definitions: none };
export const count: SchemaOf<number> = { json: { type: "integer", minimum: 0 }, definitions: none };
export const decimal: SchemaOf<number> = { json: { type: "number" }, definitions: none };
export const truth: SchemaOf<boolean> = { json: { type: "boolean" }, definitions: none };
/** Always true where it is there. */
export const yes: SchemaOf<true> = { json: { const: true }, definitions: none };
/** An object of which nothing is said. */
export const anyObject: SchemaOf<Readonly<Record<string, unknown>>> = {
  json: { type: "object", additionalProperties: true },
  definitions: none,
};
export const anything: SchemaOf<unknown> = { json: {}, definitions: none };

export function choice<const T extends string>(...values: readonly T[]): SchemaOf<T> {
  return { json: { type: "string", enum: values }, definitions: none };
}

export function list<T>(item: SchemaOf<T>): SchemaOf<readonly T[]> {
  return { json: { type: "array", items: item.json }, definitions: item.definitions };
}

export function record<T>(value: SchemaOf<T>): SchemaOf<Readonly<Record<string, T>>> {
  return { json: { type: "object", additionalProperties: value.json }, definitions: value.definitions };
}

export function either<A, B>(a: SchemaOf<A>, b: SchemaOf<B>): SchemaOf<A | B> {
  return { json: { anyOf: [a.json, b.json] }, definitions: new Map([...a.definitions, ...b.definitions]) };
}

export function optional<T>(schema: SchemaOf<T>): { readonly optional: SchemaOf<T> } {
  return { optional: schema };
}

/** The members of an object, all of them. */
export function object<T>(members: Members<T>): SchemaOf<T> {
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  const definitions = new Map<string, Readonly<Record<string, unknown>>>();
  for (const [name, member] of Object.entries<AnswerSchema | { readonly optional: AnswerSchema }>(members)) {
    const isOptional = "optional" in member;
    const schema = isOptional ? member.optional : member;
    properties[name] = schema.json;
    if (!isOptional) required.push(name);
    for (const [key, definition] of schema.definitions) definitions.set(key, definition);
  }
  return { json: { type: "object", properties, required }, definitions };
}

/** Gives a schema a name of its own in the document. */
export function named<T>(name: string, { json, definitions }: SchemaOf<T>): SchemaOf<T> {
  return { json: { $ref: `#/components/schemas/${name}` }, definitions: new Map([...definitions, [name, json]]) };
}
