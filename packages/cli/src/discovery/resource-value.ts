import type { XdsResource } from "@xdskit/client";
import { type EnvoyApi, MalformedMessageError } from "@xdskit/envoy-api";
import { stringify } from "yaml";

/** How resources are printed. */
export interface ResourceFormat {
  readonly api: EnvoyApi;
  /** Prints secrets as they are. */
  readonly showsSecrets: boolean;
}

/** A resource as a value with `@type`, its fields named as in Envoy's configuration files. */
export function resourceValue(
  { type, bytes }: Pick<XdsResource, "type" | "bytes">,
  { api, showsSecrets }: ResourceFormat,
): unknown {
  try {
    return api.toJson(type, bytes, { redact: !showsSecrets, names: "proto" });
  } catch (cause) {
    if (!(cause instanceof MalformedMessageError)) throw cause;
    return { "@type": type, value: Buffer.from(bytes).toString("base64") };
  }
}

/** Values as documents of one YAML stream, which `xds serve` reads as it stands. */
export function formatYaml(value: unknown): string {
  return `---\n${stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}
