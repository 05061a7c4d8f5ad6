import { messageNameOf, parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { TypedExtensionConfig } from "../../gen/types/envoy/config/core/v3/extension_pb.d.ts";
import type { TypedStruct } from "../../gen/types/xds/type/v3/typed_struct_pb.d.ts";
import type { Schema } from "../descriptor/schema.ts";
import { decodeOrReport } from "../format/content.ts";
import { ProblemList } from "../format/problem-list.ts";
import { type CatalogEntry, defineEntry } from "./entry.ts";

/** ECDS: the configuration of an extension, named like the filter (B-ECD-01). */
export const extensionConfig: CatalogEntry = defineEntry<TypedExtensionConfig>({
  message: "envoy.config.core.v3.TypedExtensionConfig",
  kind: "ecds",
  shortName: "ecds",
  discovery: {
    services: { v3: "envoy.service.extension.v3.ExtensionConfig" },
    noun: "ExtensionConfigs",
    rest: "extension_configs",
  },
  nameField: "name",
});

/** Messages that hold the fields of another message as JSON. */
const TYPED_STRUCTS: ReadonlySet<string> = new Set(["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"]);

/** Returns the type that an extension config configures; undefined if it is empty or not an extension config. */
export function configuredType(type: TypeUrl, bytes: Uint8Array, schema: Schema): TypeUrl | undefined {
  const message = type === extensionConfig.type ? schema.message(type) : undefined;
  if (message === undefined) return undefined;
  const content = decodeOrReport(message, bytes, new ProblemList()) as TypedExtensionConfig | undefined;
  const typedConfig = content?.typedConfig;
  if (typedConfig === undefined) return undefined;
  const held = parseTypeUrl(typedConfig.typeUrl);
  const struct = held !== undefined && TYPED_STRUCTS.has(messageNameOf(held)) ? schema.message(held) : undefined;
  if (struct === undefined) return held;
  const { typeUrl } = (decodeOrReport(struct, typedConfig.value, new ProblemList()) as TypedStruct | undefined) ?? {};
  return typeUrl === undefined ? undefined : parseTypeUrl(typeUrl);
}
