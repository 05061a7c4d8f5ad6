import type { XdsResource } from "@xdskit/client";
import { type EnvoyApi, MalformedMessageError } from "@xdskit/envoy-api";
import { stringify } from "yaml";

/** How resources are printed. */
export interface ResourceFormat {
  readonly api: EnvoyApi;
  /** Prints secrets as they are. */
  readonly showsSecrets: boolean;
}

/**
 * A resource as a value with `@type`, its fields named as in Envoy's configuration files. What nobody can read may hold secrets: its bytes are shown
 * as secrets are.
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

/** What to say beside a resource whose message nobody knows; undefined of others, and where its bytes are shown. */
export function unreadableNote(
  { type, key }: Pick<XdsResource, "type" | "key">,
  { api, showsSecrets }: ResourceFormat,
): string | undefined {
  if (showsSecrets || api.knows(type)) return undefined;
  return `${key}: nobody knows its message, so it may hold secrets: --descriptors FILE says what it is, --show-secrets prints its bytes`;
}

/** Values as documents of one YAML stream, which `xds serve` reads as it stands. */
export function formatYaml(value: unknown): string {
  return `---\n${stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}
