import { fromBinary } from "@bufbuild/protobuf";
import {
  type FileDescriptorSet,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";
import { readGenerated } from "../platform.ts";
import { DescriptorError } from "./descriptor-error.ts";

const OF_V3 = "descriptors.binpb.br";
const OF_V2 = "descriptors-v2.binpb.br";

/** What every proto file may import, and every Any may hold, whether or not Envoy's files do. */
const WELL_KNOWN_FILES = [
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

/**
 * Every v3 message of Envoy, as the build made them from npm packages (`npm run generate`). Takes about 15 ms. In a browser there is
 * nothing built in but the files that everybody may import.
 */
export function readBuiltInDescriptors(): FileDescriptorSet {
  const set = readSet(OF_V3);
  const names = new Set(set.file.map((file) => file.name));
  const missing = WELL_KNOWN_FILES.map((file) => file.proto).filter((file) => !names.has(file.name));
  return { ...set, file: [...missing, ...set.file] };
}

/** The messages of v2 as they were in the middle of 2019, without the files that those of v3 have already. Takes about 5 ms. */
export function readBuiltInDescriptorsOfV2(): FileDescriptorSet {
  return readSet(OF_V2);
}

function readSet(name: string): FileDescriptorSet {
  try {
    return fromBinary(FileDescriptorSetSchema, readGenerated(name));
  } catch (cause) {
    throw new DescriptorError("expected the built-in descriptors: run npm run generate", undefined, { cause });
  }
}
