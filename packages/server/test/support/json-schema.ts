type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Json }[];
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, { schema?: Json }>> }>>;
}

/** An OpenAPI document, as far as tests look into it. */
export interface ApiDocument {
  /** A path has one operation. */
  readonly paths: Readonly<Record<string, { readonly get: Operation } | { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

/** The operation of a path. */
export function operationOf(path: ApiDocument["paths"][string]): Operation {
  return "get" in path ? path.get : path.post;
}

/** What is wrong with the JSON answer to a request, by the document; members that it does not name are wrong too. */
export function mismatches(document: ApiDocument, target: string, status: number, value: unknown): readonly string[] {
  const { pathname } = new URL(target, "http://admin");
  const found = Object.entries(document.paths).find(([path]) =>
    new RegExp(`^${path.replace(/\{.*\}/, "[^/]+")}$`).test(pathname),
  );
  if (found === undefined) return [`${pathname} is not in the document`];
  const { responses } = operationOf(found[1]);
  const schema = (responses[status] ?? responses["default"])?.content["application/json"]?.schema;
  if (schema === undefined) return [`${pathname} has no schema for ${status}`];
  return [...differences(schema, value, pathname, document)];
}

/** Knows the words that the document uses, and refuses others. */
function* differences(schema: Json, value: unknown, at: string, document: ApiDocument): Iterable<string> {
  const { $ref, type, properties, required, additionalProperties, items, anyOf, minimum, format, ...rest } = schema;
  if (typeof $ref === "string") {
    const named = document.components.schemas[$ref.replace("#/components/schemas/", "")];
    if (named === undefined) yield `${at}: there is no ${$ref}`;
    else yield* differences(named, value, at, document);
    return;
  }
  if (Array.isArray(anyOf)) {
    const tried = anyOf.map((one: Json) => [...differences(one, value, at, document)]);
    if (tried.every((found) => found.length > 0)) yield `${at}: fits none of ${anyOf.length}`;
  }
  if ("enum" in rest && !(rest["enum"] as unknown[]).includes(value)) yield `${at}: ${String(value)} is not a choice`;
  if ("const" in rest && rest["const"] !== value) yield `${at}: ${String(value)} is not ${String(rest["const"])}`;
  for (const word of Object.keys(rest)) if (word !== "enum" && word !== "const") yield `${at}: unknown word ${word}`;
  if (type !== undefined && type !== typeOf(value, type)) {
    yield `${at}: expected ${String(type)}, got ${JSON.stringify(value)}`;
    return;
  }
  if (format === "date-time" && Number.isNaN(Date.parse(String(value)))) yield `${at}: no time`;
  if (typeof minimum === "number" && Number(value) < minimum) yield `${at}: below ${minimum}`;
  if (Array.isArray(value) && items !== undefined)
    for (const [index, item] of value.entries()) yield* differences(items as Json, item, `${at}[${index}]`, document);
  if (type !== "object") return;
  const members = (properties ?? {}) as Readonly<Record<string, Json>>;
  for (const name of (required ?? []) as string[]) if (!(name in Object(value))) yield `${at}: no ${name}`;
  for (const [name, member] of Object.entries(Object(value))) {
    const known = members[name] ?? additionalProperties;
    if (known === undefined) yield `${at}.${name} is not in the document`;
    else if (known !== true) yield* differences(known as Json, member, `${at}.${name}`, document);
  }
}

function typeOf(value: unknown, wanted: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" && wanted === "integer") return Number.isInteger(value) ? "integer" : "number";
  return value === null ? "null" : typeof value;
}
