import { type DescMessage, getOption, type Registry } from "@bufbuild/protobuf";
import type { ApiVersion } from "@xdskit/protocol";

/** The names of messages that are the same in both versions of the API, as Envoy's own files tell them. */
export interface TwinNames {
  /** The name in the other version; undefined if the message is not there, or has no version. */
  in(version: ApiVersion, name: string): string | undefined;
  /** Every message of v3 that there was in v2, with its name there. */
  readonly pairs: ReadonlyMap<string, string>;
}

/** What a message of v3 says of the one that it was made of. */
interface VersioningAnnotation {
  readonly previousMessageType: string;
}

/**
 * Dumps of the admin interface changed between the versions, and are never served. Names of v3 in the place of v2's are slips
 * in Envoy's files, or moves within v3.
 */
function isTwin(name: string, previous: string): boolean {
  return previous !== "" && !name.startsWith("envoy.admin.") && !/\.v3(alpha)?\./.test(previous);
}

/** Reads `udpa.annotations.versioning` of every message of v3. Takes about 5 ms. */
export function readTwinNames(registry: Registry): TwinNames {
  const versioning = registry.getExtension("udpa.annotations.versioning");
  const toV2 = new Map<string, string>();
  const toV3 = new Map<string, string>();
  for (const message of registry) {
    if (message.kind !== "message" || versioning === undefined) continue;
    const previous = previousOf(message, versioning);
    if (!isTwin(message.typeName, previous)) continue;
    toV2.set(message.typeName, previous);
    toV3.set(previous, message.typeName);
  }
  return { pairs: toV2, in: (version, name) => (version === "v2" ? toV2 : toV3).get(name) };
}

function previousOf(message: DescMessage, versioning: NonNullable<ReturnType<Registry["getExtension"]>>): string {
  const annotation = getOption(message, versioning) as unknown as VersioningAnnotation | undefined;
  return annotation?.previousMessageType ?? "";
}
