import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { DescriptorError } from "./descriptor-error.ts";

// The same place from src/descriptor and from dist/descriptor.
const LOCATION = new URL("../../gen/descriptors.binpb.br", import.meta.url);

/** Every v3 message of Envoy, as the build made them from npm packages (`npm run generate`). Takes about 15 ms. */
export function readBuiltInDescriptors(): FileDescriptorSet {
  try {
    return fromBinary(FileDescriptorSetSchema, brotliDecompressSync(readFileSync(LOCATION)));
  } catch (cause) {
    throw new DescriptorError("expected the built-in descriptors: run npm run generate", undefined, { cause });
  }
}
