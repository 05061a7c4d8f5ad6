export {
  type CatalogType,
  createEnvoyApi,
  type DescriptorReflection,
  type EnvoyApi,
  type EnvoyApiOptions,
  MalformedMessageError,
  type PrintOptions,
  type ReadResult,
  type ResourceWrapper,
  type TextResult,
} from "./envoy-api.ts";
export type { FieldProblem, FieldProblemCode, TextProblem } from "./problem.ts";
