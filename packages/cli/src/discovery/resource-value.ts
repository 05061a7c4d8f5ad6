import type { XdsResource } from "@xdskit/client";
import { type EnvoyApi, MalformedMessageError } from "@xdskit/envoy-api";
import { stringify } from "yaml";

/** How resources are printed. */
export interface ResourceFormat {
  readonly api: EnvoyApi;
  /** Prints secrets instead of redacting them. */
  readonly showsSecrets: boolean;
}

/**
 * A resource as a JSON value with `@type` and the field names of Envoy's configuration files. A resource of unknown
 * type is redacted as a whole, because it may hold secrets.
 */
export function resourceValue(
  { type, bytes }: Pick<XdsResource, "type" | "bytes">,
  { api, showsSecrets }: ResourceFormat,
): unknown {
  if (!showsSecrets && !api.knows(type)) return unreadable(type, bytes, showsSecrets);
  try {
    return api.toJson(type, bytes, { redact: !showsSecrets, names: "proto" });
  } catch (cause) {
    if (!(cause instanceof MalformedMessageError)) throw cause;
    return unreadable(type, bytes, showsSecrets);
  }
}

function unreadable(type: string, bytes: Uint8Array, showsSecrets: boolean): unknown {
  return { "@type": type, value: showsSecrets ? Buffer.from(bytes).toString("base64") : "[redacted]" };
}

/** A note for a resource of unknown type; undefined if the type is known or secrets are shown. */
export function unreadableNote(
  { type, key }: Pick<XdsResource, "type" | "key">,
  { api, showsSecrets }: ResourceFormat,
): string | undefined {
  if (showsSecrets || api.knows(type)) return undefined;
  return `${key}: nobody knows its message, so it may hold secrets: --descriptors FILE says what it is, --show-secrets prints its bytes`;
}

/** Formats a value as a document of a YAML stream, which `xds serve` can read. */
export function formatYaml(value: unknown): string {
  return `---\n${stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}
