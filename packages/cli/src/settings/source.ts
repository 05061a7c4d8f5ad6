import type { EnvoyApi } from "@xdskit/envoy-api";
import {
  createDirectorySource,
  createModuleSource,
  type DirectorySourceOptions,
  type ResourceSource,
  type ValidationLevel,
} from "@xdskit/source";
import type { Io } from "../io.ts";
import type { SettingValues } from "./resolve-settings.ts";
import type { SourcePlace } from "./source-place.ts";

/** What a source needs besides the settings. */
export interface SourceParts extends Pick<DirectorySourceOptions, "findsVersionLoss" | "offThread"> {
  readonly api: EnvoyApi;
  readonly io: Io;
}

/** Creates the source of a directory or module. Output of a module goes to stderr. */
export function createSource(
  { directory, module }: SourcePlace,
  values: SettingValues,
  { api, io, findsVersionLoss = false, offThread }: SourceParts,
): ResourceSource {
  const maxBytes = values.number("limits.max-file-bytes") ?? Number.POSITIVE_INFINITY;
  const validation = validationOf(values);
  const allowEmpty = values.flag("allow-empty") ?? false;
  const given = { api, validation, allowEmpty, findsVersionLoss };
  const secretFiles = values.text("secret-files") === "leave" ? "leave" : "read";
  if (module === undefined) {
    return createDirectorySource({
      directory,
      maxFileBytes: maxBytes,
      secretFiles,
      ...given,
      ...(offThread && { offThread }),
    });
  }
  const timeoutMs = values.number("limits.module-timeout");
  const onOutput = (text: string): void => io.stderr.write(text);
  return createModuleSource({ module, maxBytes, onOutput, ...given, ...(timeoutMs !== undefined && { timeoutMs }) });
}

/** How validation failures are treated; `warn` unless set otherwise. */
function validationOf(values: SettingValues): ValidationLevel {
  const levels: readonly ValidationLevel[] = ["off", "warn", "reject"];
  return levels.find((level) => level === values.text("validation")) ?? "warn";
}
