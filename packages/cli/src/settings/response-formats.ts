import type { ResponseFormat } from "@xdskit/envoy-api";

/** The formats of resource files. */
export const responseFormats: readonly ResponseFormat[] = ["yaml", "json", "pb", "pb_text"];
