import type { Route } from "../route.ts";
import { describeAsOpenApi } from "../schema/document.ts";
import { anyObject } from "../schema/schema.ts";

/** This API, for programs. */
export const openapi: Route = {
  path: "/api/v1/openapi.json",
  says: "this API as an OpenAPI 3.1 document, with the schema of every answer",
  parameters: {},
  answers: { 200: anyObject },
  answer: ({ routes, view }) => ({ kind: "json", value: describeAsOpenApi(routes, view.version) }),
};
