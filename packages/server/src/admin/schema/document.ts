import type { ParameterKind, Route } from "../route.ts";
import { errorAnswer } from "./page.ts";
import type { AnswerSchema } from "./schema.ts";

type Json = Readonly<Record<string, unknown>>;

/** Describes the routes as an OpenAPI 3.1 document. */
export function describeAsOpenApi(routes: readonly Route[], version: string): Json {
  const schemas = new Map<string, Json>();
  const use = ({ json, definitions }: AnswerSchema): Json => {
    for (const [name, definition] of definitions) schemas.set(name, definition);
    return { "application/json": { schema: json } };
  };
  const paths = Object.fromEntries(
    routes.map((route) => [route.path, { [route.method === "POST" ? "post" : "get"]: describeRoute(route, use) }]),
  );
  return {
    openapi: "3.1.0",
    info: {
      title: "xdskit admin API",
      version,
      description: "Absent values are omitted; types are type URLs. New members may come in any release.",
    },
    paths,
    components: { schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) },
  };
}

function describeRoute(route: Route, use: (schema: AnswerSchema) => Json): Json {
  const { method = "GET", path, says, answers = {}, textType } = route;
  const isProbe = !path.startsWith("/api/");
  const described = Object.entries(answers).map(([status, schema]) => [
    status,
    { description: meanings[status] ?? "the answer", content: use(schema) },
  ]);
  const asText = textType === undefined ? [] : [["200", { description: "the answer", content: { [textType]: {} } }]];
  const otherwise = isProbe ? [] : [["default", { description: "why there is none", content: use(errorAnswer) }]];
  const operationId = path
    .replace(/\{(.*)\}/, "by-$1")
    .replaceAll(/[^a-z0-9]+(.?)/g, (_, letter: string) => letter.toUpperCase());
  return {
    operationId: `${method.toLowerCase()}${operationId.replace(/^ApiV1/, "")}`,
    summary: says,
    parameters: parametersOf(route),
    responses: Object.fromEntries([...described, ...asText, ...otherwise]),
  };
}

const meanings: Readonly<Record<string, string>> = {
  "200": "the answer",
  "409": "it is not to be had: the source has errors or is not loaded yet, or the decision cannot be made",
  "503": "clients are not served",
};

function parametersOf({ path, parameters, kinds = {} }: Route): readonly Json[] {
  const inPath = /\{(.*)\}/.exec(path)?.[1];
  const first = inPath === undefined ? [] : [{ name: inPath, in: "path", required: true, schema: { type: "string" } }];
  const others = Object.entries(parameters).map(([name, description]) => ({
    name,
    in: "query",
    description,
    schema: schemaOf(kinds[name]),
  }));
  return [...first, ...others];
}

function schemaOf(kind: ParameterKind | undefined): Json {
  if (kind === undefined) return { type: "string" };
  if (typeof kind === "object") return { type: "string", enum: kind };
  return kindSchemas[kind];
}

const kindSchemas: Readonly<Record<Extract<ParameterKind, string>, Json>> = {
  count: { type: "integer", minimum: 0 },
  flag: { type: "boolean", default: false },
  texts: { type: "array", items: { type: "string" } },
};
