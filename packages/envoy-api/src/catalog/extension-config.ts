import type { TypedExtensionConfig } from "../../gen/types/envoy/config/core/v3/extension_pb.d.ts";
import { type CatalogEntry, defineEntry } from "./entry.ts";

/** ECDS: the configuration of an extension, named as the filter is (B-ECD-01). */
export const extensionConfig: CatalogEntry = defineEntry<TypedExtensionConfig>({
  message: "envoy.config.core.v3.TypedExtensionConfig",
  kind: "ecds",
  shortName: "ecds",
  nameIn: (content) => content.name,
});
