export type { CollectionEntry } from "./catalog/collection-entry.ts";
export { resolveJsonPath } from "./catalog/json-path.ts";
export type { InitialFetch, ReadResult } from "./catalog/resource-reader.ts";
export type { ResourceWrapper } from "./catalog/resource-wrapper.ts";
export type { RewrittenSources, SourceFile, SourceUse } from "./catalog/source-rewriter.ts";
export type { Converted } from "./conversion/converter.ts";
export { DescriptorError } from "./descriptor/descriptor-error.ts";
export type { DescriptorReflection } from "./descriptor/reflection.ts";
export { contentDigest } from "./digest.ts";
export {
  type CatalogType,
  createEnvoyApi,
  type EnvoyApi,
  type EnvoyApiOptions,
  MalformedMessageError,
  type MessageResult,
  type PrintOptions,
  type TextResult,
} from "./envoy-api.ts";
export type { FieldNames } from "./format/json-writer.ts";
export type { Unprintable } from "./format/unprintable.ts";
export type { FieldProblem, FieldProblemCode, TextProblem } from "./problem.ts";
export type { HealthCheckProtocol } from "./wire/health-check-request.ts";
export type { ResponseFormat, ResponseWriter } from "./wire/response-writer.ts";
