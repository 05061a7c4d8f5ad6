import { type DescMessage, getOption, type Registry } from "@bufbuild/protobuf";
import type { ApiVersion } from "@xdskit/protocol";

/** The names of messages that exist in both API versions, according to Envoy's files. */
export interface TwinNames {
  /** Returns the name in another version; undefined if the message does not exist there or is unversioned. */
  in(version: ApiVersion, name: string): string | undefined;
  /** Every v3 message that existed in v2, with its v2 name. */
  readonly pairs: ReadonlyMap<string, string>;
}

/** The annotation of a v3 message that names its predecessor. */
interface VersioningAnnotation {
  readonly previousMessageType: string;
}

/**
 * Admin dumps changed between the versions and are never served. A predecessor in v3 is a slip in Envoy's files, or a
 * move within v3.
 */
function isTwin(name: string, previous: string): boolean {
  return previous !== "" && !name.startsWith("envoy.admin.") && !/\.v3(alpha)?\./.test(previous);
}

/** Reads `udpa.annotations.versioning` of every v3 message. Takes about 5 ms. */
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
