import { toBinary } from "@bufbuild/protobuf";
import type { TypeUrl } from "@xdskit/protocol";
import fc from "fast-check";
import type { Schema } from "../../src/descriptor/schema.ts";
import { JsonReader } from "../../src/format/json-reader.ts";
import { ProblemList } from "../../src/format/problem-list.ts";
import { arbitraryJson } from "./arbitrary-json.ts";

/** Messages of a type as an encoder writes them, well and badly made; the same for the same seed. */
export function encodedSamples(
  type: TypeUrl,
  schema: Schema,
  options: { readonly numRuns: number; readonly seed: number },
): readonly Buffer[] {
  const message = schema.message(type);
  if (message === undefined) throw new Error(type);
  return fc.sample(arbitraryJson(message, schema), options).map((json) => {
    const content = new JsonReader(schema, new ProblemList()).readMessage(message, json);
    return Buffer.from(content === undefined ? new Uint8Array() : toBinary(message, content));
  });
}
