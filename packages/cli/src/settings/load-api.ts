import { readFile } from "node:fs/promises";
import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import { CommandError, exitCode } from "../exit-code.ts";

/**
 * Creates an API with Envoy's messages and those of the descriptor files. Throws a `CommandError` that names the file
 * at fault.
 */
export async function loadApi(descriptorFiles: readonly string[]): Promise<EnvoyApi> {
  return createApi(descriptorFiles, await loadDescriptors(descriptorFiles));
}

/** Reads descriptor files. Throws a `CommandError` that names the file at fault. */
export async function loadDescriptors(descriptorFiles: readonly string[]): Promise<readonly Uint8Array[]> {
  return await Promise.all(descriptorFiles.map(readDescriptors));
}

/** Creates an API with loaded descriptors. Throws a `CommandError` that names their files. */
export function createApi(descriptorFiles: readonly string[], descriptors: readonly Uint8Array[]): EnvoyApi {
  try {
    return createEnvoyApi({ descriptors });
  } catch (cause) {
    if (descriptors.length === 0) throw cause;
    const files = descriptorFiles.join(", ");
    throw new CommandError(
      exitCode.problems,
      `descriptors in ${files} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
      "make them with `protoc --include_imports --descriptor_set_out=FILE` or `buf build -o FILE`",
    );
  }
}

async function readDescriptors(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(exitCode.problems, `cannot read descriptors: ${why}`);
  }
}
